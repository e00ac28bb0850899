import type { LanguageRules } from './nl.ts'

/** French. */
export const fr: LanguageRules = {
  dates: {
    months:
      'janvier janv|fevrier fevr fev|mars mar|avril avr|mai|juin|juillet juil|aout|septembre sept|octobre oct|novembre nov|decembre dec',
    weekdays: 'lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche',
    // `e` also ends the numbers of days in Dutch.
    ordinals: 'er|ère|e',
    beforeMonth: 'de',
    beforeDay: 'le',
    beforeTime: 'à|a',
    hours: 'heures?',
    around: 'le|à',
    published: String.raw`publi[ceész]|posté|diffusé|créé|rédigé|\bparu|mise? en ligne|online depuis`,
    modified: String.raw`imprim[ée]|consulté|généré|note de la rédaction|actualis|modifi|corrig[ée]|rectificatif|mise?s? à jour|m[àa]j\b`,
    pictures: 'photo',
  },
  authors: {
    byWords: 'par',
    labelLinks: "par|de|d[’']",
    openingByWords: 'par',
    indefiniteArticles: 'un',
    openings: 'écrit|article',
    publishedVerbs: 'publié|rédigé',
    textLabels: 'texte',
    authorLabels: 'auteurs?',
    writtenVerbs: 'écrit|rédigé',
    cardLabels: 'auteur|écrit|par',
    labels:
      "publié|(?:propos )?recueillis?|texte?|auteurs?|(?:une? |la |le |l[’'])?(?:article|interview|analyse|reportage|opinion|tribune|chronique|commentaire|lettre|courrier|critique|édito(?:rial)?|billet|enquête|portrait|entretien(?: réalisé)?|carte blanche)",
    staffPrefixes: '[Dd]e',
    staffPossessives: '[Nn]otre',
    staffRoles: String.raw`orrespondant|ournalist|nvoyée?\sspécial|édact(?:eur|rice)(?:\sen\schef(?:\sadjoint)?)?`,
    staffPlaces: 'à|en',
    credits: String.raw`photo(?!p)\p{L}*|images?|illustra\p{L}*|montage|traduction|caméra`,
    conjunctions: String.raw`et(?:\sde(?=\s\p{Lu}))?`,
    conjunctionsBeforeFullName: '',
    placePrepositions: 'pour|à',
    placeArticles: 'le|la',
    datePrepositions: 'le',
    weekdayEndings: 'di',
    boxLinks: String.raw`Tous\sles\sarticles`,
    boxWords: 'catégor|comment(?:er|air)|publi|photo(?!p)',
    work: 'rédact|correspond|journalist|auteur|chroniqueu|éditorialist',
    copulas: 'est',
    particles: 'des de du la le les',
    surnamePrefixes: 'de|du|la|le',
    outletArticles: 'le|la|les|l|d',
    beforeAgency: 'le|la|avec',
    offices: String.raw`\w*redaction redac communique service\s(?:de\s)?presse anonyme inconnu publireportage sarl asbl
      notre nos\scorrespondants presse agences? commentaires publicites?`,
    beforeRole: String.raw`la|le|l|ancien\w*|chef`,
    roles: String.raw`\w*redacteur\w* \w*redactrice \w*journalist\w* \w*correspond\w* chroniqueu\w* auteur\w* autrice
      envoye\w* chef direct\w* professor\s(?:en|de) economist photogra\w* photos? video illustrat\w* infogra\w* special\w*
      traduction traduit publie derniere mis\se\sa mise? est collaborat\w* pour chez avec actuellement`,
  },
  text: {
    readAlso:
      '([àa] )?lire (aussi|également|la suite|plus)|[àa] (lire|voir)|voir aussi|(sur le|dans le|dans la) même (sujet|thème|rubrique)|les plus lus|pour aller plus loin\\W*$',
    offers:
      'nous utilisons (des|les) cookies (pour|afin)|(laisser|écrire|ajouter|poster) un commentaire|partage[rz] (l.|cet )article|copier le lien|lire la suite avec|abonnez-vous|je m.abonne|inscrivez-vous|suivez[- ](nous|le|la|l)|recevez (la|notre|chaque|toute)|déjà abonné|téléchargez (l.|notre )app|soutenez[- ]nous|rejoignez (notre|nos) (cha[îi]ne|canal|groupe|communauté)|écoute[rz] (l.|cet )article(?! (\\d|(de|des|du|que|qui|premier)\\b))|(vous avez|avez-vous) une? (info|témoignage|histoire).{0,40}(?<!\\bque )\\bnous\\b',
    stamps: String.raw`publié|mis à jour|modifié le|temps de lecture|lecture \d`,
    readingTime: 'de lecture',
    months: 'fév|fev|mar|avr|mai|juin|jui|aoû|aou|oct|déc',
    captions: 'photo|image|vidéo|crédit|source',
    captionNotes: 'image|photo|crédit|source',
    slides: 'image|photo',
    slidesOf: 'sur|de',
    credits: '',
    comments: 'commentaires?|réactions?',
    rights: 'tous droits réservés|(la )?reproduction (totale|partielle|de cet article|interdite)',
    machine: String.raw`(la |le |l.|cette |ce )?(carte|graphique|infographie|vidéo|contenu|tweet|post|podcast|lecteur)( est)? en (cours de )?chargement|chargement( (de|du|des) .{0,30})?( en cours)?\W*$|(impossible de|(ce|cette|le|la) (contenu|carte|graphique|vidéo|infographie|tweet) ne peut( pas)?) .{0,20}(charg|affich)(er|ée?)(?!\p{L})|javascript est désactivé|cette vidéo (ne peut|n.est)|pour (lire|regarder) cette vidéo|javascript doit|votre (web)?browser|(ce|cet) (content|inhoud|embed|contenu|article)\b.{0,60}(cookies|third party|externe|tiers)|pour (voir|afficher) ce contenu|publicité|la suite après`,
    affiliates: 'commission sur les (achats|ventes)',
    appearedFirst: '(l.article|cet article|le billet) .+ est apparu en premier sur',
    moreInBrackets: 'la suite',
    readMore:
      'lire (la suite|plus|l.article( complet| en entier| en intégralité)?|l.intégralité)|en savoir plus|plus d.infos?(rmations)?|(la )?suite( de l.article)?',
  },
  interstitials: {
    consent: String.raw`consentement|confidentialité|données (personnelles|à caractère personnel)|intérêt légitime|tout (accepter|refuser)|traceurs|publicités? personnalisée|nos (\d+ )?partenaires|paramétrer|vos choix`,
    consentItself:
      'vie privée|données (personnelles|à caractère personnel)|traceur|nos (advertising )?part(n|en)|personnalisée',
    challenge:
      'vérifi(er|ez|cation) que vous (êtes|n.êtes)|vous n.êtes pas un robot|un instant|accès refusé|trafic inhabituel|activité inhabituelle|active[rz] javascript|sécurité de votre connexion|bloqueurs? de pub|dans la file d.attente',
    challengeTitles: '',
    challengeWholeTitles: 'un instant|accès refusé|vérification',
    beforeErrorNumber: 'erreur',
    behindErrorNumber: 'erreur|page|non trouv|introuvable',
    errorTitles: String.raw`^\W*(cette )?page (est )?(introuvable|inexistante|non trouvée)|^\W*une erreur (est survenue|s.est produite)`,
    failureTitles: String.raw`erreur\b|oups\b|en maintenance|une erreur`,
    errors: String.raw`\b(page|article|contenu|site|lien)\b.{0,60}(n.existe (pas|plus)|introuvable|inexistante?|(a|ont) été (déplacée?|supprimée?)|n.est (pas|plus|actuellement pas|momentanément pas) (disponible|accessible)|indisponible|en maintenance)|pas disponible dans votre (pays|région)|retour(nez)? à l.accueil|erreur (est survenue|s.est produite|technique)|veuillez réessayer|de retour (dans quelques|bientôt|très vite)|merci de votre patience`,
    messages: String.raw`(plus de|au moins|moins de) (18|dix-huit|16|seize) ans|18 ans (ou plus|révolus)|\bmajeur\b|réservé aux adultes|(confirme[rz]|vérifi(ez|er|cation de|ons)) (l.|votre )âge|navigateur (est|n.est|ne) .{0,40}(obsolète|ancien|compatible|pris? en charge|supporté|à jour|dépassé)|mett(ez|re) à jour votre navigateur|(version récente|autre navigateur|navigateur récent)|(disponible|consultée?s?|accessible|visible|regardée?).{0,40}\b(depuis|dans|hors de|en dehors de|qu.en|en) (votre|ce|la|le|belgique|france|luxembourg)\b.{0,12}(pays|région|zone|belgique|france|luxembourg)?|(droits|licence|embargo).{0,60}(expir|échu|terminé|pris fin)|(contenu|article|vidéo|page|dépêche)\b.{0,30}n.est plus (disponible|en ligne|accessible)|(pour|pour des) (des )?(raisons?|motifs?) (juridiques?|légales?|de droits?)|^\W*(connexion|se connecter|connectez-vous|identifiez-vous)\W*($|[|–—·])|connectez-vous (avec|pour|à)|mot de passe oublié|(votre|un) (mot de passe|compte)|cré(ez|er) un compte`,
    subscription: String.raw`abonn(é|és|ée|ez|er|ement|ements)\b|connectez-vous|se connecter|identifiez-vous|accès (illimité|à tous)|offre numérique`,
    terms: String.raw`par (semaine|mois|an)\b|sans engagement|gratuit|déjà|profitez|essai|offre|accès|dès`,
    paywalled: String.raw`pour lire (la suite|cet article|l.intégralité)|(la suite|cet article|contenu|article) (est )?réservée? (à|aux) (nos )?abonnés|réservé aux abonnés|il (vous )?reste \d+ ?%|(lisez|poursuivez|continuez) (la suite|(la|votre) lecture) avec (un|votre) (\S{1,20} )?(abonnement|compte)|abonnez-vous pour|lire la suite avec|déjà abonné|accédez à (tous|l.intégralité)|continuer (la|votre) lecture|s.abonner pour|prenez un abonnement|devenez abonné|choisissez (votre|un) abonnement`,
    paths: 'connexion',
  },
  markup: {
    boilerplate: `fil-?d?-?ariane sommaire commentaires (partage) partager infolettre (abonne(er|ment|z)?) (pub) publicite
      les-?plus-?lus lire-?(aussi|plus) a-?lire-?aussi voir-?aussi meme-?(sujet|theme) auteurs?-?(info|box|naam|bio)
      temps-?de-?lecture (legende) diaporama enquete sondage`,
    leads: 'accroche|chapo|chapeau|preface',
    authors: 'auteurs?',
    dates: 'heure',
    notPublished: 'aujourd',
    asides: '',
  },
  detection: {
    declaration: 'fra',
    commonWords: `

    de la le les et des en un une du que dans est pour qui au sur par pas plus avec ne se il ce ont son sa ses sont
    mais aux nous vous été aussi leur comme elle cette ces ou fait être d' l' qu' n' s' c' j' était avait deux même
    tout tous toute après entre sans bien peut où contre selon depuis encore très lors avant moins autres autre on je
    tu ils elles lui y si leurs notre votre mon ma mes ton ta donc alors ainsi car quand comment pourquoi quel quelle
    aujourd'hui hier demain an ans année années jour jours semaine mois heure heures minutes euros millions police
    ministre gouvernement parti élections élection ville pays france français française belgique belge luxembourg
    bruxelles paris tribunal juge suspect victime victimes incendie accident voiture train maison école enfants femme
    femmes homme hommes guerre ukraine russie états-unis europe européenne entreprise entreprises travail argent prix
    météo pluie soleil match joueur équipe but gagné perdu premier première nouveau nouvelle nouveaux grand grande
    petit bon mauvais long haut toujours jamais peu beaucoup trop rien chose faire dit dire va vont vient doit doivent
    peuvent pourrait sera seront serait avoir eu mis pris reste voir sait savoir veut faut chez vers sous pendant
    jusqu' moi toi cela ça oui non
`,
  },
}
