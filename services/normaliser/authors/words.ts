import { fold } from '../metadata/fold.ts'

/** Words that name no person, in the five languages; all compared folded (lower case, no accents, only words). */

/** News agencies, as bylines write them: whole names. */
const AGENCIES = pattern(
  '^(?:the |de |le |la |die |der |met |avec |mit |with )?',
  String.raw`anp anp\s(?:foto|pers|persberichten) novum novum\snieuws belga belga\snews\sagency belgaimage
    afp(?:\sdeutschland)? agence\sfrance\spresse dpa(?:\s\w{2,10})? deutsche\spresse\sagentur thomson\sreuters reuters
    ap associated\spress apa austria\spresse\sagentur sda ats keystone(?:\ssda|\sats)? sid sport\sinformations\sdienst
    epd kna efe ansa xinhua tass interfax upi pa pa\smedia press\sassociation bloomberg(?:\snews)?
    dow\sjones(?:\snewswires)? ritzau ntb tt lusa cp canadian\spress getty(?:\simages)? imago(?:\simages)? epa ddp dapd
    dts kyodo yonhap europa\spress zuma(?:\spress)? ots news\saktuell sipa sp\sx mediafin inside\sbenelux age ips hbvl`,
  '$',
)

/** One of these words anywhere makes an office of it, a programme or a caption. */
const OFFICE = pattern(
  String.raw`\b`,
  String.raw`\w*redactie \w*redaction \w*redaktion\w* redaktioun redac red newsroom news\s?desk \w*desk nieuwsdienst
    nieuwsploeg \w*team staff editorial editors \w*admin administrator webmaster moderator publisher herausgeber
    presse?stelle pressedienst presseamt persdienst persbericht pressemitteilung communique service\s(?:de\s)?presse
    presseportal gastautor gastbeitrag gastauteur guest anonymous anonyme anoniem unknown unbekannt inconnu onbekend zvg
    advertorial sponsored partnercontent publireportage brand\s?story verlag verein \w*stiftung gmbh e\s[vg]$ eg bv nv sarl
    asbl vzw ag kg ltd inc verslaggevers? correspondenten korrespondenten magazine?s? \w*zeitung \w*krant television
    radio news nieuws nws media press presse online tv sport onze notre nos\scorrespondants unser\w* www blog forum podcast \w*verband \w*verbandes \w*minister\w*
    universitat \w*agentur \w*agenturen agences? agency agencies \w*agentschap(?:pen)? persbureaus? nachrichten\w*
    author autor user all\srights alle\srechten lesen lezen kommentare? reacties commentaires comments`,
  String.raw`\b`,
)

/** A part of a byline that begins with one of these is a person's work, a place or a sentence. */
const ROLE = pattern(
  String.raw`^(?:de |het |la |le |l |der |die |das |our |ex |oud |former |ancien\w* |senior |junior |stv |chief |chef |vice )*`,
  String.raw`\w*redacteur\w* \w*redactrice \w*redaktor\w* \w*redakteur\w* redactor \w*journalist\w* \w*reporter\w*
    \w*correspond\w* \w*korrespond\w* verslaggever\w* columnist\w* kolumnist\w* chroniqueu\w* editor\w* editrice writer
    author autor autorin auteur\w* autrice schrijver freelance\w* envoye\w* hoofdredact\w* chefredact\w* eindredact\w*
    producer presentator moderator\w* chef adjunct head\sof director direct\w* professor\s(?:of|fur|en|de|in|aan) hoogleraar docent\w*
    onderzoeker\w* economist ekonom\w* econoom politoloog historicus historiker\w* analist analyst expert\w* fotogra\w*
    photogra\w* fotos? photos? video illustrat\w* infogra\w* bearbeit\w* projekt\w* special\w* traduction traduit
    ubersetzung vertaling published publie gepubliceerd veroffentlicht posted geplaatst updated aktualisiert bijgewerkt
    lesedauer leestijd uhr zuletzt laatste? letzte last derniere mis\se\sa mise? aktual\w* is\sa is\seen est ist schrijft schreibt writes covers mitarbeit\w* collaborat\w*
    medewerk\w* member mitglied lid aus in uit from fur voor pour for bij chez at mit met avec`,
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

/** Alternatives set apart by white space. */
function pattern(before: string, alternatives: string, behind: string): RegExp {
  return new RegExp(`${before}(?:${alternatives.trim().split(/\s+/).join('|')})${behind}`)
}
