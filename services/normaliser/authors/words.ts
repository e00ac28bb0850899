import { allWords, anyOf } from '../languages/index.ts'
import { fold } from '../metadata/fold.ts'

/** Words that name no person. All are compared folded (lower case, no accents, only words). */

/** News agencies, as bylines write them: whole names. */
const AGENCIES = pattern(
  `^(?:${anyOf(rules => rules.authors.beforeAgency)} )?`,
  words(String.raw`anp anp\s(?:foto|pers|persberichten) novum novum\snieuws belga belga\snews\sagency belgaimage
    afp(?:\sdeutschland)? agence\sfrance\spresse dpa(?:\s\w{2,10})? deutsche\spresse\sagentur thomson\sreuters reuters
    ap associated\spress apa austria\spresse\sagentur sda ats keystone(?:\ssda|\sats)? sid sport\sinformations\sdienst
    epd kna efe ansa xinhua tass interfax upi pa pa\smedia press\sassociation bloomberg(?:\snews)?
    dow\sjones(?:\snewswires)? ritzau ntb tt lusa cp canadian\spress getty(?:\simages)? imago(?:\simages)? epa ddp dapd
    dts kyodo yonhap europa\spress zuma(?:\spress)? ots news\saktuell sipa sp\sx mediafin inside\sbenelux age ips hbvl`),
  '$',
)

/** A name with one of these words is an office, a programme or a caption. */
const OFFICE = pattern(
  String.raw`\b`,
  allWords(rules => rules.authors.offices),
  String.raw`\b`,
)

/** A part of a byline that begins with one of these is a person's work, a place or a sentence. */
const ROLE = pattern(
  `^(?:${anyOf(rules => rules.authors.beforeRole)} )*`,
  allWords(rules => rules.authors.roles),
  String.raw`\b`,
)

export function isAgency(name: string): boolean {
  return AGENCIES.test(fold(name))
}

export function isOffice(name: string): boolean {
  return OFFICE.test(fold(name))
}

export function isRole(part: string): boolean {
  return ROLE.test(fold(part))
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}

function pattern(before: string, alternatives: string[], behind: string): RegExp {
  return new RegExp(`${before}(?:${[...new Set(alternatives)].join('|')})${behind}`)
}
