/**
 * What stands on pages that are not the article they were asked for, in the five languages. Single words prove
 * nothing, news is written about all of this; `walls.ts` looks at their share of a text and at what else is there.
 */

const phrases = (...lines: string[]) => new RegExp(lines.join('|'), 'iu')

/** Sentences of cookie walls and consent dialogs. */
export const CONSENT = phrases(
  '\\bcookies?\\b|\\bconsent\\b|privacy (policy|settings|statement|preferences|choices)|legitimate interest|personal data|advertising partners|\\d (partners|vendors)|manage (preferences|choices|settings)|accept all|reject all|your (privacy|choices)|personali[sz]ed (ads|advertising|content)|store and/or access',
  'toestemming|privacy(beleid|verklaring|instellingen|voorkeuren)|persoonsgegevens|gerechtvaardigd belang|gepersonaliseerde|alles (accepteren|weigeren)|cookie(beleid|instellingen|voorkeuren|muur)|advertentiepartners|\\d partners|trackers|akkoord',
  'consentement|confidentialité|données (personnelles|à caractère personnel)|intérêt légitime|tout (accepter|refuser)|traceurs|publicités? personnalisée|nos (\\d+ )?partenaires|paramétrer|vos choix',
  'einwilligung|zustimm|datenschutz|personenbezogene|berechtigte[sn]? interesse|alle (akzeptieren|ablehnen)|personalisierte|werbepartner|tracking|einstellungen',
  'zoustëmmung|dateschutz|perséinlech daten|akzeptéier',
)

/**
 * What no dialog about consent does without. The other words of `CONSENT` are words of politics too: parties reach an
 * `akkoord`, councils give `toestemming`.
 */
export const CONSENT_ITSELF =
  /cookie|privacy|vie privée|privatsphäre|(personal|personenbezogene) data?|persoonsgegevens|données (personnelles|à caractère personnel)|perséinlech daten|tracker|traceur|\btracking\b|(\d+|our|onze|nos|unsere) (advertising )?part(n|en)|(personali[sz]ed|gepersonaliseerde|personalisierte|personnalisée)/i

/** Sentences of pages that want to know whether a person is there. */
export const CHALLENGE = phrases(
  '(verify|verifying|confirm|prove) (that )?(you are|you.re|if you are) (a )?(human|not a robot)|checking (your|if the site|the site)|just a moment|one moment,? please|security (check|of your connection|service)|unusual (traffic|activity)|automated (access|requests|queries)|(are you|not) a robot|ddos protection|ray id|enable (javascript|cookies)( and cookies)?|access (denied|to this page has been denied)|you have been blocked|pardon our interruption|request unsuccessful|incident id|reference #|complete the (captcha|security)|captcha',
  'bewijs dat (je|u) (geen robot|een mens)|(je|u) bent geen robot|controleren of (je|u|de)|even geduld|verdacht verkeer|toegang geweigerd|schakel javascript in',
  'vérifi(er|ez|cation) que vous (êtes|n.êtes)|vous n.êtes pas un robot|un instant|accès refusé|trafic inhabituel|activité inhabituelle|activez javascript',
  'bestätigen sie,? dass sie (ein mensch|kein roboter)|kein roboter|einen moment|überprüfung (ihres|der)|zugriff verweigert|ungewöhnliche (aktivität|zugriffe)|aktivieren sie javascript',
  'zougrëff refuséiert|kee roboter',
)
/** What bot defences leave in the markup. Ordinary pages behind them carry some of it too. */
export const CHALLENGE_MARKUP =
  /_cf_chl_opt|cf-browser-verification|cf-challenge|challenge-form|challenges\.cloudflare\.com\/turnstile|captcha-delivery\.com|_Incapsula_Resource|px-captcha|perimeterx|distil_r_|sec-if-cpt|sec-cpt|\/_sec\/cp_challenge|awswaf|aws-waf|human-challenge|h-captcha|g-recaptcha|kasada|funcaptcha|meta http-equiv="refresh"[^<>]{1,500}captcha/i
/** Titles of such pages. Those in the second line are the whole title or all before its bar: news begins so too. */
export const CHALLENGE_TITLE = phrases(
  '^\\W*(attention required|pardon our interruption|are you (a )?(human|robot)|robot check|bot (verification|check)|human verification|ddos-guard|request rejected|client challenge)',
  '^\\W*(just a moment|access denied|security check|verify(ing)? you( are human)?|one moment( please)?|please wait|un instant|accès refusé|vérification|(nur )?einen moment( bitte)?|zugriff verweigert|sicherheitsüberprüfung|even geduld|toegang geweigerd|beveiligingscontrole|(you have been |access )?blocked|403|(403\\W+)?forbidden)(\\W*$|\\s*[|–—·])',
)

/**
 * Titles and headlines that only an error page has. A number alone is one: "500 banen weg" and "404 blessés" are news.
 */
export const ERROR_TITLE = phrases(
  '^\\W*((http|status|error|erreur|fehler|fout|code)\\W*)*(40[0-9]|410|429|50[0-9])(\\W*$|\\W+(error|erreur|fehler|fout|page|pagina|seite|säit|not found|non trouv|niet gevonden|nicht gefunden|net fonnt|introuvable|forbidden|bad (request|gateway)|gone|service|gateway|internal|too many)\\b|\\s*[|–—·:-])',
  '^\\W*(the )?(requested )?page (was |you .{0,40})?(not found|cannot be found|does ?n.t exist|does not exist|no longer exists)|^\\W*not found\\W*($|[|–—·])|^\\W*((http|server) )?(bad gateway|gateway time-?out|internal server error|service (temporarily )?unavailable)|^\\W*(sorry\\W+)?something went wrong',
  '^\\W*(deze )?pagina (is |kan |werd )?(niet|bestaat niet)( worden)? ?(gevonden|beschikbaar|meer)?\\W*($|[|–—·]|\\bmeer\\b)|^\\W*niet gevonden\\W*($|[|–—·])|^\\W*er (is|ging) iets (mis|fout)',
  '^\\W*(cette )?page (est )?(introuvable|inexistante|non trouvée)|^\\W*une erreur (est survenue|s.est produite)',
  '^\\W*(die )?seite (wurde )?nicht gefunden|^\\W*(die |diese )?seite (existiert|konnte|wurde) (leider )?nicht|^\\W*nicht gefunden\\W*($|[|–—·])|^\\W*(es ist )?ein fehler (ist )?aufgetreten',
  '^\\W*säit (net|gouf net) fonnt|^\\W*net fonnt\\W*($|[|–—·])',
)
/** Titles that error pages share with news: the text decides. */
export const FAILURE_TITLE =
  /^\W*(error\b|erreur\b|fehler\b|fout(je|melding)?\b|(oops|oeps|oups|ups|hoppla)\b|(temporarily )?unavailable|(site|website) (is )?(in )?(under )?(maintenance|onderhoud)|maintenance|onderhoud|wartung(sarbeiten)?|en maintenance|une erreur|ein fehler)/i
/** Sentences of error pages: that it is not there, that something fails, what to try instead. */
export const ERROR = phrases(
  'page (that )?(you (are|were) looking for|you requested)|\\b(page|article|content|site|website|link)\\b.{0,60}((no longer|does not|doesn.t) exist|(could|can) ?not be found|(was|were) not found|has (been )?(moved|removed)|(is|are) (temporarily |currently |no longer )?(unavailable|not available|down))|not available in your (region|country|location)|down for maintenance|try (again later|the search)|something went wrong',
  '\\b(pagina|artikel|inhoud|site|website|link)\\b.{0,60}(bestaat (niet|helaas)|niet (meer |langer )?(bestaat|beschikbaar|gevonden|bereikbaar)|(verplaatst|verwijderd|bijgewerkt|in onderhoud))|niet beschikbaar in (uw|jouw|je) (regio|land)|probeer het (later|opnieuw|nog|met de zoek)|er (is|ging) iets (mis|fout)|terug naar de (voorpagina|homepage|startpagina)',
  '\\b(page|article|contenu|site|lien)\\b.{0,60}(n.existe (pas|plus)|introuvable|inexistante?|(a|ont) été (déplacée?|supprimée?)|n.est (pas|plus|actuellement pas|momentanément pas) (disponible|accessible)|indisponible|en maintenance)|pas disponible dans votre (pays|région)|retour(nez)? à l.accueil|erreur (est survenue|s.est produite|technique)|veuillez réessayer',
  '\\b(seite|artikel|inhalt|beitrag|website|link)\\b.{0,60}(existiert (leider )?nicht|nicht (mehr )?(existiert|gefunden|verfügbar|vorhanden|erreichbar)|verschoben|gelöscht|umgezogen)|nicht verfügbar in ihrem (land|gebiet)|fehler (ist )?aufgetreten|versuchen sie es (später|erneut|noch)|wartungsarbeiten|zur(ück zur)? startseite',
  '\\b(säit|artikel|inhalt)\\b.{0,60}(gëtt et net|net (méi )?(fonnt|do|disponibel)|geläscht)|probéiert et (nach|méi spéit)|zréck op d.haaptsäit',
)

/** Words of what is sold: a paragraph with one of them and one of `TERMS` is an offer. */
export const SUBSCRIPTION = phrases(
  'subscri(be|ber|bers|ption)|sign in|log in|create an account|free trial|unlimited access|digital access|already a member',
  'abonne(e|es|er|ren|ment|menten)\\b|inloggen|proefabonnement|onbeperkt(e)? (toegang|lezen)|digitale toegang|plus-?artikel|account (aan|maken)',
  'abonn(é|és|ée|ez|er|ement|ements)\\b|connectez-vous|se connecter|identifiez-vous|accès (illimité|à tous)|offre numérique',
  '\\b(abo|abos|abonnent|abonnenten|abonnieren|abonnement|probeabo)\\b|einloggen|unbegrenzte[rn]? (zugang|zugriff)|plus-?artikel|probemonat',
  'abonnéier|aloggen|onlimitéierten zougang',
)
/** Words of how it is sold. */
export const TERMS = phrases(
  'per (week|month|year)|cancel any ?time|already|unlimited|continue|reading experience|additional articles|free\\b|now\\b|[€£$] ?\\d|\\d ?€',
  'per (week|maand|jaar)|opzegbaar|gratis|al een|reeds|toegang|probeer|actie|voordeel|\\bnu\\b|euro',
  'par (semaine|mois|an)\\b|sans engagement|gratuit|déjà|profitez|essai|offre|accès|dès',
  'pro (woche|monat|jahr)|kündbar|monatlich|kostenlos|gratis|bereits|schon|jetzt|testen|angebot|zugang|zugriff',
  'pro mount|gratis|elo\\b|zougang',
)
/** One of these says that the article ends here for whoever does not pay. */
export const WALLED = phrases(
  'to (continue|keep) reading( this| the|\\W*$|[,.:])|(only|exclusively|reserved|available) (for|to) (our )?(subscribers|members)|subscribers[- ]only|subscribe (now )?to (read|continue|unlock|access)|(log|sign) in to (read|continue)|you have reached your (article )?limit|this (article|content|story) is (for|only|reserved|exclusive)|(\\d+|one|two|three|your last) (free )?articles? (left|remaining)|get (full|unlimited) access|become a (subscriber|member)|start your (free )?(trial|subscription)',
  '(lees|verder|wil je|wilt u) (verder )?(lezen|lees)( met| dit|\\?)|lees (dit|het) (volledige|hele) artikel|(exclusief|alleen|enkel) voor (onze )?abonnees|voorbehouden (aan|voor) abonnees|dit (artikel|verhaal) is (alleen|enkel|exclusief|gratis)|om (dit artikel|verder) te (kunnen )?lezen|(word|neem) (nu )?(een )?(abonnee|abonnement) (om|en)|verder lezen\\?|(al|reeds) abonnee\\?|je hebt nog \\d+|u hebt nog \\d+|onbeperkt lezen|(neem|sluit|kies|start) (nu |vandaag |hier )?(een|je|uw) (\\S+ )?abonnement|word (nu |vandaag )?abonnee|hele (artikel|verhaal)\\?',
  'pour lire (la suite|cet article|l.intégralité)|(la suite|cet article|contenu|article) (est )?réservée? (à|aux) (nos )?abonnés|réservé aux abonnés|il (vous )?reste \\d+ ?%|abonnez-vous pour|lire la suite avec|déjà abonné|accédez à (tous|l.intégralité)|continuer (la|votre) lecture|s.abonner pour|prenez un abonnement|devenez abonné|choisissez (votre|un) abonnement',
  '(weiterlesen|weiter lesen) mit|(um|jetzt) (diesen artikel|weiter ?zu ?lesen|weiterlesen)|(nur|exklusiv|exclusiv) für (unsere )?abonnent|abonnenten vorbehalten|(dieser|der) (artikel|inhalt|beitrag) ist (nur|exklusiv|abonnenten|kostenpflichtig)|(sie haben|du hast) bereits ein abo|bereits abonnent|lesen sie (diesen|den) (ganzen |vollständigen )?artikel|mit (einem )?\\S+-?(abo|plus)\\b.{0,30}(lesen|zugriff|zugang)|abo abschließen|werden sie (jetzt )?abonnent|jetzt (ein )?abo\\b|wählen sie ihr abo',
  '(just|nëmme) fir abonnenten|fir (weider|virun) ?ze ?liesen|dësen artikel ass (just|nëmmen|fir)|gitt abonnent|huelt (iech )?en abo',
)
