/**
 * Lines that stand between the paragraphs of an article and are no part of it, told by their words, in the five
 * languages. They hold for a whole line only: an article about newsletters keeps its sentences.
 */

const words = (...parts: string[]) => new RegExp(`^\\W*(?:${parts.join('|')})`, 'iu')

const READ_ALSO = words(
  'lees (ook|meer|verder)|zie ook|bekijk ook|meer (over dit|lezen|nieuws)|aanbevolen|meest gelezen',
  '(à )?lire (aussi|également|la suite|plus)|à (lire|voir)|voir aussi|(sur le|dans le) même (sujet|thème)|les plus lus',
  'lesen sie (auch|hier|mehr)|lies (auch|hier|mehr)|mehr (zum thema|dazu|lesen|zu diesem)|(das|dies) könnte (sie|dich) (auch )?interessieren|auch interessant|siehe auch|weitere (artikel|themen|beiträge|links|informationen)|weiterführende|passend dazu|meistgelesen|zum thema|empfohlen',
  'liest och|liesen och|méi zum thema|kuckt och',
  "read (also|more|next)|see also|related|more (on|from|about|stories)|you (may|might) (also )?like|recommended|don[’']t miss|trending|most (read|popular)|further reading|what to read",
)

const OFFER = words(
  'abonneer (je|u|nu)|word (nu )?(abonnee|lid)|schrijf je (nu )?in|meld je aan|volg ons|ontvang (de|onze|dagelijks)|download (de|onze) app|al abonnee|steun ons',
  'abonnez-vous|je m.abonne|inscrivez-vous|suivez[- ](nous|le|la|l)|recevez (la|notre|chaque|toute)|déjà abonné|téléchargez (l.|notre )app|soutenez[- ]nous',
  'jetzt (kostenlos )?(abonnieren|anmelden|testen|registrieren|lesen)|(hier )?(abonnieren|folgen) sie|folge uns|folgt uns|melden sie sich|registriere dich|newsletter|(unser|der|den) [\\p{L}-]*newsletter|bereits (abonnent|registriert)|unterstützen sie uns|(hat|war|gefällt) (ihnen|dir) (der|dieser|unser) (artikel|beitrag)|war der artikel',
  'abonnéier|schreift iech|follegt eis',
  'subscribe( now| to|$)|sign up|follow (us|\\S+ on|@)|get the (latest|best)|join (our|the conversation)|already a (subscriber|member)|register (now|to)|download our app|support (us|our)|like this story|have a tip|get in touch|for more stories',
)

const STAMP = words(
  '(laatst )?(gepubliceerd|bijgewerkt|gewijzigd|geplaatst)\\b|leestijd',
  'publié|mis à jour|modifié le|temps de lecture|lecture \\d',
  'veröffentlicht|aktualisiert|publiziert|erstellt am|stand:|lesezeit|lesedauer',
  'publizéiert|aktualiséiert|lieszäit',
  '(last )?(published|updated|posted)\\b|reading time|estimated read',
  '\\d+ ?min(ut(e|en|es))?\\.? (read|lesezeit|leestijd|de lecture|lesedauer)',
)
const MONTHS =
  'jan|feb|fév|fev|mar|mär|mrt|maa|mäe|apr|avr|abr|mai|may|mei|mee|jun|juin|jui|jul|aug|aoû|aou|sep|oct|okt|nov|dec|déc|dez|dez'
/** A date, and beside it at most a time, a name and a few words. */
const DATE = new RegExp(
  `^.{0,40}(\\d{1,2}([.]|st|nd|rd|th|er)? (${MONTHS})\\p{L}*\\.?,? \\d{4}|(${MONTHS})\\p{L}*\\.? \\d{1,2}(st|nd|rd|th)?,? \\d{4}|\\d{1,2}[./-]\\d{1,2}[./-](\\d{4}|\\d{2})|\\d{4}-\\d{2}-\\d{2})\\b.{0,40}$`,
  'iu',
)

const PICTURE = words(
  '(foto|photo|image|bild|picture|beeld|video|vidéo|crédit|credit|quelle|source|bron|symbolbild|archivbild|archieffoto)s?( ?\\(.{1,20}\\)| ?by|/\\S+)? ?[:©|]',
  '© ',
)
const PICTURE_END =
  /[([](image|foto|photo|bild|picture|pic|credit|crédit|archiv|symbol|quelle|bron|source)[^)\]]{0,60}[)\]]\W*$/iu
const SLIDE = /^\W*(image|bild|foto|photo|slide|afbeelding)?\s*\d+\s*(of|\/|von|van|sur|de|vun)[\s/]*\d+\W*$/iu

const CREDIT = words(
  '(additional )?(reporting|writing|editing) by|edited by|compiled by|[^.]{0,90}contributed (reporting|to this)|\\(reporting by|[^.]{0,60}reported from [^.]{0,60}\\.',
)
const COMMENTS =
  /^\W*(\d+ )?(comments?|kommentare?n?|reacties?|commentaires?|réactions?|leave a (reply|comment))( \(?\d+\)?)?\W*$/iu
const RIGHTS = words(
  '©|\\(c\\) \\d|copyright|alle rechten voorbehouden|tous droits réservés|alle rechte vorbehalten|all rights reserved',
)
const MACHINE = words(
  '(this|the) \\S+ requires javascript|(please )?enable javascript|javascript (is|muss|doit|moet)|(your|ihr|uw|je|votre) (web)?browser',
  'an dieser stelle (findest|finden|steht|befindet)|empfohlener (redaktioneller|externer) inhalt|ich bin damit einverstanden, dass|personenbezogene daten (können|werden)|externer inhalt|inhalt(e)? (laden|anzeigen|erlauben)',
  '(this|dit|deze|ce|cet) (content|inhoud|embed|contenu|article)\\b.{0,60}(cookies|third party|externe|tiers)|om deze inhoud te tonen|pour (voir|afficher) ce contenu',
  'advertisement|advertentie|publicité|anzeige|werbung|reklamm|story continues|(het )?artikel gaat verder|lees verder onder|la suite après|der artikel geht',
)
const AFFILIATE =
  /affiliate(d|-)?([- ]| and\/or referral )?links?|provisions-?link|partnerlink|partner-link|(we may|wir) (earn|erhalten).{0,40}(commission|provision)|commission sur les (achats|ventes)/iu
const SHORTCODE = /^\[\/?[a-z_-]+( [^\]]*)?\](.*\[\/[a-z_-]+\])?$/i

/**
 * Whether a line is no part of the article.
 * @param linked how much of it is links, from 0 to 1
 */
export function isChaffLine(text: string, linked: number): boolean {
  if (!/[\p{L}\p{N}]/u.test(text)) return true
  const { length } = text
  if (length > 400) return false
  const sentence = /(?<!\.\.)[.!?]["”»’)]?$/u.test(text)
  if (READ_ALSO.test(text) && (linked > 0.2 || (length < 80 && !sentence) || /^[^.!?]{3,40}:/u.test(text))) return true
  if (length < 250 && OFFER.test(text)) return true
  if (length < 120 && STAMP.test(text) && (length < 40 || /\d/.test(text))) return true
  if (length < 90 && !sentence && DATE.test(text)) return true
  if (
    length < 250 &&
    (PICTURE.test(text) || PICTURE_END.test(text)) &&
    !(sentence && length > 120 && PICTURE.test(text))
  )
    return true
  return (
    SLIDE.test(text) ||
    CREDIT.test(text) ||
    COMMENTS.test(text) ||
    (length < 150 && RIGHTS.test(text)) ||
    MACHINE.test(text) ||
    (length < 300 && AFFILIATE.test(text)) ||
    SHORTCODE.test(text)
  )
}
