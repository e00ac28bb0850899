/**
 * Query parameters that tell the reader's origin and not the article. Prefixes and names as the
 * campaign and analytics tools document them; lower case.
 */

const PREFIXES = [
  'utm_',
  'mtm_',
  'pk_',
  'piwik_',
  'matomo_',
  'hsa_',
  'at_',
  'ns_',
  'wt_',
  'wt.',
  'mc_',
  'fb_',
  'ga_',
  'guce_',
  'sfmc_',
  'oly_',
  'vero_',
  'elq',
  'sara_',
  'soc_',
  '__hs',
  '_hs',
  '_x_tr_',
  '__cf_chl_',
  'trk_',
  'tblci',
  'amp_',
]

/** AT Internet: the full names, for the prefix `xt` is too short to trust. */
const XT = new Set(['xtor', 'xtref', 'xtmc', 'xtcr', 'xtatc', 'xtnp', 'xts', 'xtsite', 'xtloc', 'xtdt'])

const NAMES = new Set([
  // click identifiers
  ...['fbclid', 'gclid', 'gclsrc', 'dclid', 'gbraid', 'wbraid', 'msclkid', 'yclid', 'twclid', 'ttclid', 'li_fat_id'],
  ...['igshid', 'igsh', 'epik', 'rb_clickid', 'dicbo', 'srsltid', 'irclickid', 'cjevent', 'wickedid', 'ysclid'],
  // analytics, newsletters, shares
  ...['_ga', '_gl', 'mkt_tok', 's_cid', 's_kwcid', 'cmp', 'cmpid', 'cmpsrc', 'campaign_id', 'icid', 'ocid', 'ncid'],
  ...['intcid', 'gepc', 'mbid', 'cndid', 'smid', 'smtyp', 'emci', 'emdi', 'ceid', 'et_cid', 'et_rid', 'nwsltr'],
  ...['ref_src', 'ref_url', '__twitter_impression', '_branch_match_id', 'guccounter', 'ito', 'spm', 'scm', 'mkevt'],
  ...['xing_share', 'share_id', 'sharetype', 'shareid', 'referrer', 'referer', 'trk', 'action_object_map', 'wtmc'],
  ...['action_type_map', 'action_ref_map', 'obref', 'oborigurl', 'npo_cid', '_openstat', 'rssfeed'],
  // sessions and cookie tests
  ...['phpsessid', 'jsessionid', 'aspsessionid', 'sessionid', 'cookie_check', 'cookiecheck', 'nocache', 'cachebuster'],
  // the AMP form of the same page
  ...['outputtype', 'amp'],
])

/**
 * Names of parameters that track with a word (`?ref=rss`), and identify an article with a number
 * (`?ref=12345`).
 */
const NAMES_WITH_A_WORD = new Set([
  'ref',
  'source',
  'src',
  'from',
  'partner',
  'via',
  'rss',
  'share',
  'shared',
  'medium',
  'origin',
])

/** Whether the parameter does not help to identify the article. Name and value decoded. */
export function isTracking(name: string, value: string): boolean {
  const key = name.toLowerCase()
  if (NAMES.has(key) || XT.has(key)) return true
  if (NAMES_WITH_A_WORD.has(key)) return /^(?:\D*|[01])$/.test(value)
  return PREFIXES.some(prefix => key.startsWith(prefix) && key.length > prefix.length)
}
