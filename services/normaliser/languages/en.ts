import type { LanguageRules } from './nl.ts'

/** English. */
export const en: LanguageRules = {
  dates: {
    months:
      'january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|october oct|november nov|december dec',
    weekdays: '(?:mon|tues?|wednes|thurs?|fri|satur|sun)(?:day)?',
    ordinals: 'st|nd|rd|th',
    beforeMonth: 'of',
    beforeDay: 'on',
    beforeTime: 'at',
    hours: '',
    around: 'on|at',
    published: 'posted|created',
    modified:
      'printed|retrieved|accessed|generated|editor.?s.? note|clarification|updat|last change|revised|edited|correct(?:ion|ed)|erratum',
    pictures: 'photo|picture',
  },
  authors: {
    byWords: 'by',
    labelLinks: 'by|from',
    openingByWords: 'by|as told to',
    indefiniteArticles: '',
    openings: 'written|reported|posted|article',
    publishedVerbs: 'posted|published',
    textLabels: 'text|words',
    authorLabels: 'authors?',
    writtenVerbs: 'written',
    cardLabels: 'written|by|author',
    labels:
      'written|reported|posted|published|text|words|story|authors?|article|interview|opinion|guest (?:column|essay|comment|post)|column|analysis|exclusive|review|report|letter|commentary',
    staffPrefixes: '',
    staffPossessives: '[Oo]ur',
    staffRoles: 'orrespondent|eporter|ournalist',
    staffPlaces: 'in',
    credits: String.raw`photo(?!p)\p{L}*|pictures?|images?|video|illustra\p{L}*|montage|camera\p{L}*`,
    conjunctions: 'and',
    conjunctionsBeforeFullName: '',
    placePrepositions: 'in|from',
    placeArticles: 'the',
    datePrepositions: 'on|at',
    weekdayEndings: 'day',
    boxLinks: String.raw`All\s(?:articles|posts)`,
    boxWords: String.raw`e-?mails?\b|categor|comments|publi|posted|photo(?!p)|tags\b`,
    work: 'correspond|journalist|reporter|editor(?!ial)|columnist',
    copulas: 'is',
    particles: '',
    surnamePrefixes: '',
    outletArticles: 'the',
    beforeAgency: 'the|with',
    offices: String.raw`(?:news\s?)?wire red newsroom news\s?desk \w*desk \w*team staff editorial editors \w*admin administrator webmaster
      moderator publisher guest anonymous unknown advertorial sponsored partnercontent brand\s?story ltd inc magazine?s?
      television radio news media press online tv sport www blog forum podcast agency agencies author user all\srights
      comments advertis(?:ing|ement)`,
    beforeRole: 'our|ex|former|senior|junior|chief|vice',
    roles: String.raw`\w*journalist\w* \w*reporter\w* \w*correspond\w* columnist\w* editor\w* editrice writer author
      freelance\w* producer moderator\w* head\sof director professor\sof economist analyst expert\w* photogra\w* photos?
      video illustrat\w* infogra\w* special\w* published posted updated last is\sa writes covers collaborat\w* member in
      from for at with`,
  },
  text: {
    readAlso:
      "read (also|more|next)|see also|related|more (on|from|about|stories)|you (may|might) (also )?like|recommended|don[’']t miss|trending|most (read|popular)|further reading|what to read",
    offers: String.raw`we use (\S+ )?cookies (to|for)|leave a (reply|comment)|share this|copy link|continue reading with|subscribe( now| to|$)|sign up|follow (us|\S+ on|@)|get the (latest|best)|join (our|the conversation)|already a (subscriber|member)|register (now|to)|download our app|support (us|our)|like this story|listen to (this (article|story)|the article)(?! (of|about|that|whose)\b)|((do you|you) )?have a (tip|story)(\?|\b.{0,60}\b(us|newsroom)\b)|get in touch|for more stories`,
    stamps: String.raw`(last )?(published|updated|posted)\b|reading time|estimated read`,
    readingTime: 'read',
    months: 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec',
    captions: 'photo|image|picture|video|credit|source',
    captionNotes: 'image|photo|picture|pic|credit|source',
    slides: 'image|photo|slide',
    slidesOf: 'of',
    credits: String.raw`(additional )?(reporting|writing|editing) by|edited by|compiled by|[^.]{0,90}contributed (reporting|to this)|\(reporting by|[^.]{0,60}reported from [^.]{0,60}\.`,
    comments: 'comments?|leave a (reply|comment)',
    rights: 'all rights reserved',
    machine: String.raw`(the |this )?(chart|map|graphic|video|content|tweet|post|podcast|player) is (still )?loading|loading( (the )?(chart|map|graphic|video|content|tweet|post))?\W*$|(could not|couldn.t|unable to|cannot) (load|display) (the|this) (chart|map|graphic|video|content|tweet|post)|(the |this )?(chart|map|graphic|content|tweet|post) (can ?not|could not|can.t) be (loaded|displayed|shown)|javascript is (off|disabled)|this video (can ?not|is not|isn)|to play this (video|audio)|media caption|(watch|listen)( now)?:|(this|the) \S+ requires javascript|(please )?enable javascript|javascript is|your (web)?browser|this (content|inhoud|embed|contenu|article)\b.{0,60}(cookies|third party|externe|tiers)|advertisement|story continues`,
    affiliates: String.raw`affiliate(d|-)?([- ]| and\/or referral )?links?|(may|might) (earn|receive|get|erhalten).{0,40}(commission|provision)`,
    appearedFirst: 'the (post|article) .+ (appeared first on|first appeared on)',
    moreInBrackets: 'more',
    readMore:
      'read (more|on|the (full|whole|complete) (story|article|post|report))|continue reading|full (story|article)|more (info|details)',
  },
  interstitials: {
    consent: String.raw`\bcookies?\b|\bconsent\b|privacy (policy|settings|statement|preferences|choices)|legitimate interest|personal data|advertising partners|\d (partners|vendors)|manage (preferences|choices|settings)|accept all|reject all|your (privacy|choices)|personali[sz]ed (ads|advertising|content)|store and/or access`,
    consentItself: String.raw`cookie|privacy|personal data?|tracker|\btracking\b|(\d+|our) (advertising )?part(n|en)|personali[sz]ed`,
    challenge:
      '(verify|verifying|confirm|prove) (that )?(you are|you.re|if you are) (a )?(human|not a robot)|checking (your|if the site|the site)|just a moment|one moment,? please|security (check|of your connection|service)|unusual (traffic|activity)|automated (access|requests|queries)|(are you|not) a robot|ddos protection|ray id|enable (javascript|cookies)( and cookies)?|access (denied|to this page has been denied)|you have been blocked|pardon our interruption|request unsuccessful|incident id|reference #|complete the (captcha|security)|captcha|not a bot\\b|protect the server|ad[- ]?blocker|you are (now )?in (the|a) (queue|line)',
    challengeTitles:
      'attention required|pardon our interruption|are you (a )?(human|robot)|robot check|bot (verification|check)|human verification|ddos-guard|request rejected|client challenge',
    challengeWholeTitles:
      'just a moment|access denied|security check|verify(ing)? you( are human)?|one moment( please)?|please wait|(you have been |access )?blocked',
    beforeErrorNumber: 'error',
    behindErrorNumber:
      'error|page|not found|forbidden|bad (request|gateway)|gone|service|gateway|internal|too many',
    errorTitles: String.raw`^\W*(the )?(requested )?page (was |you .{0,40})?(not found|cannot be found|does ?n.t exist|does not exist|no longer exists)|^\W*not found\W*($|[|–—·])|^\W*((http|server) )?(bad gateway|too many requests|gateway time-?out|internal server error|service (temporarily )?unavailable)|^\W*(sorry\W+)?something went wrong`,
    failureTitles: String.raw`error\b|oops\b|(temporarily )?unavailable|(site|website) (is )?(in )?(under )?maintenance|maintenance`,
    errors: String.raw`page (that )?(you (are|were) looking for|you requested)|\b(page|article|content|site|website|link)\b.{0,60}((no longer|does not|doesn.t) exist|(could|can) ?not be found|(was|were) not found|has (been )?(moved|removed)|(is|are) (temporarily |currently |no longer )?(unavailable|not available|down))|not available in your (region|country|location)|down for maintenance|be back (soon|shortly)|try (again later|the search)|something went wrong`,
    messages: String.raw`(at least|over|under) (18|eighteen|16|21) years|(18|21) (years )?(or older|or over|and over)|(confirm|verify|enter) your (age|date of birth)|age (verification|check|gate)\W*$|adults only|browser (is|isn.t) .{0,40}(supported|outdated|out of date|old)|(update|upgrade) your browser|(recent|newer|modern|different|supported) (version|browser)|(not|only|un)\W?(available|accessible|viewed|watched).{0,30}\b(in|from|outside) (your|this|the (eu|uk|us|european))\b|(licen[cs]e|rights|embargo).{0,50}(expired|ended|lapsed)|licensing restrictions|(no longer|not) (be )?(able to )?(show|offer|publish)|for (legal|copyright|licensing) reasons|^\W*(log ?in|sign ?in)\W*($|[|–—·])|(log|sign) in (to|with) (your|continue|view)|forgot(ten)? your password|your (password|account)|create an account`,
    subscription:
      'subscri(be|ber|bers|ption)|sign in|log in|create an account|free trial|unlimited access|digital access|already a member',
    terms: String.raw`per (week|month|year)|cancel any ?time|already|unlimited|continue|reading experience|additional articles|free\b|now\b|[€£$] ?\d|\d ?€`,
    paywalled: String.raw`to (continue|keep) reading( this| the|\W*$|[,.:])|(only|exclusively|reserved|available) (for|to) (our )?(subscribers|members)|subscribers[- ]only|subscribe (now )?to (read|continue|unlock|access)|(log|sign) in to (read|continue)|you have reached your (article )?limit|this (article|content|story) is (for|only|reserved|exclusive)|(\d+|one|two|three|your last) (free )?articles? (left|remaining)|get (full|unlimited) access|become a (subscriber|member)|start your (free )?(trial|subscription)`,
    paths: 'login signin sign-in logon register subscribe error not-found blocked',
  },
  // Empty, because the code that uses these lists contains the English names itself.
  markup: { boilerplate: '', leads: '', authors: '', dates: '', notPublished: '', asides: '' },
  detection: {
    declaration: 'eng',
    commonWords: `
    the of and to in a is that for it as was with be by on not he his at from this but are have had they which one you
    were all her she there would their we him been has when who will no more if out so up said what its about than
    into them can only other time new some could these two may first then do any like my now over such our man me even
    most made after also did many before must through years where much your way well down should because each just
    those people how too little state good very make world still see own work men day get here between both being
    under never same another know while last might us great old year off come since against go came right used take
    three states himself few house use during without again place around however home found mrs part once went say
    thought government police minister party election city country britain british london court judge victim fire
    accident car train school children woman women war ukraine russia american european company companies money price
    prices weather rain match player team goal won lost according today yesterday tomorrow week month hours minutes
    million percent says don't isn't it's he's i'm can't won't
`,
  },
}
