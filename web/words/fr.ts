import type { Words } from './en.ts'

export const fr: Words = {
  app: {
    tagline: 'La recherche d’actualités aux Pays-Bas, en Belgique et au Luxembourg',
    skip: 'Aller aux résultats',
    language: 'Langue de cette page',
    docs: 'Référence de l’API',
    named: (name, value) => `${name}\u00A0: ${value}`,
    copy: 'Copier',
    copied: 'Copié.',
    copyFailed: 'Ce navigateur ne permet pas à la page de copier. Sélectionnez le texte.',
  },
  key: {
    title: 'Une clé ouvre la recherche',
    about:
      'Perscope cherche dans l’actualité des médias des Pays-Bas, de Belgique et du Luxembourg\u00A0: par mots, par requête booléenne ou par le sens, d’une langue à l’autre. Cette page est ouverte à tous\u00A0; pour chercher, il faut une clé.',
    how: 'La personne qui gère ce service distribue les clés. Si c’est vous, cette commande en crée une\u00A0:',
    started: 'npm start affiche une adresse qui ouvre cette page avec une clé.',
    label: 'Votre clé',
    hint: 'Elle commence par psk_. Si la case n’est pas cochée, elle reste dans cet onglet. Elle ne figure jamais dans une adresse.',
    use: 'Ouvrir la recherche',
    remember: 'La retenir sur cet appareil',
    forget: 'Oublier la clé',
    forgotten: 'La clé est oubliée.',
    trying: 'Essai de la clé…',
    offer:
      'Une autre clé est arrivée par un lien ou un champ. Elle ne sera utilisée qu’avec votre accord.',
    useOther: 'Utiliser cette clé',
    keepOwn: 'Garder la mienne',
  },
  search: {
    title: 'Chercher dans l’actualité',
    label: 'Chercher',
    placeholder: {
      keyword: 'bruxelles métro',
      boolean: 'bruxelles "métro 3" -grève',
      expression: '(bruxelles OR brussel) NEAR/5 ~métro',
      semantic: 'inondations le long de la Meuse',
    },
    go: 'Chercher',
    modes: 'Manière de chercher',
    mode: { keyword: 'Mots', boolean: 'Booléen', expression: 'Expression', semantic: 'Sens' },
    modeAbout: {
      keyword: 'L’un des mots, sous toutes ses formes.',
      boolean: 'Tous les mots tels quels\u00A0; "une suite de mots"\u00A0; -sans.',
      expression: 'Mots, "suites de mots", ~formes, title:, AND, OR, NOT, NEAR/5, parenthèses.',
      semantic: 'Par le sens, dans les cinq langues.',
    },
  },
  reading: {
    any: 'Lu comme\u00A0: un des termes',
    all: 'Lu comme\u00A0: tous les termes',
    not: 'sans',
    meaning:
      'Lu comme\u00A0: les 500 articles au sens le plus proche, dans toutes les langues, puis vos filtres.',
    tree: 'Lu comme\u00A0:',
    expression: {
      open: 'Ce qui s’ouvre au caractère N n’est pas fermé ; écrivez un autre guillemet, ou ).',
      close: 'La parenthèse au caractère N ne ferme rien.',
      lacking:
        'L’opérateur au caractère N manque de mots à côté de lui ; en minuscules, les opérateurs sont des mots.',
      wildcard:
        'Un mot ne peut contenir ni * ni ?, comme au caractère N ; écrivez ~ devant un mot pour toutes ses formes.',
      operator:
        'Il n’y a pas d’opérateur écrit comme au caractère N ; écrivez NEAR/1 à NEAR/50 entre deux mots, ou le mot en minuscules ou entre guillemets.',
      field:
        'Il n’y a pas de champ écrit comme au caractère N ; écrivez title: devant un mot, choisissez titres, auteurs et langues dans les filtres, ou mettez une espace après les deux-points.',
      excludes:
        'Ce qui commence au caractère N ne fait qu’exclure ; nommez ce qui doit y être, comme dans (a NOT b).',
      operand:
        'Ce qui est au caractère N ne convient pas : ~ prend un mot, NEAR deux mots, ~mots ou groupes de mots, ou plusieurs reliés par OR entre parenthèses.',
      limit: 'C’est trop au caractère N ; écrivez au plus 64 mots, et 8 parenthèses imbriquées.',
    },
    refused: 'Impossible de chercher cela tel quel.',
    problem: {
      nothing: 'Écrivez au moins une lettre ou un chiffre.',
      openQuote: 'Un guillemet n’est pas fermé. Ajoutez un " après la suite de mots.',
      onlyExclusions:
        'Des exclusions seules ne donnent rien. Indiquez au moins un mot qui doit apparaître.',
      short: 'Pour chercher par le sens, écrivez au moins 2 caractères.',
      long: 'Écrivez au plus 191 caractères.',
    },
    hint: {
      operator: word =>
        `«\u00A0${word}\u00A0» est lu comme un mot. «\u00A0Expression\u00A0» connaît AND, OR et NOT.`,
      wildcard:
        '* est ignoré\u00A0: il n’y a pas de jokers. La recherche par mots trouve toutes les formes.',
      quotes: 'Seuls les guillemets droits (") délimitent une suite de mots.',
      ignored: 'Les guillemets et le moins ne comptent que dans une recherche booléenne.',
      useBoolean: 'Recherche booléenne',
      useKeyword: 'Chercher l’un des mots',
    },
  },
  filters: {
    title: 'Filtres',
    active: n => (n === 1 ? '1 filtre' : `${n} filtres`),
    searchIn: 'Chercher dans',
    inTitle: 'Titres',
    inBoth: 'Titres et textes',
    country: 'Pays du média',
    language: 'Langue de l’article',
    outlet: 'Média',
    outletHint: 'Partie du nom ou du domaine',
    author: 'Auteur',
    authorHint: 'Partie d’un nom',
    hasAuthor: 'Auteur indiqué',
    either: 'Avec ou sans',
    withAuthor: 'Avec',
    withoutAuthor: 'Sans',
    dates: 'Publication',
    from: 'Du',
    to: 'Au',
    presets: { today: 'Aujourd’hui', week: '7 jours', month: '30 jours', year: '12 mois' },
    sort: 'Ordre',
    orders: {
      newest: 'Les plus récents d’abord',
      oldest: 'Les plus anciens d’abord',
      latest: 'Derniers indexés d’abord',
      earliest: 'Premiers indexés d’abord',
      best: 'Les plus proches d’abord',
    },
    clear: 'Effacer les filtres',
    on: 'Filtres actifs',
    remove: name => `Retirer\u00A0: ${name}`,
    since: day => `à partir du ${day}`,
    until: day => `jusqu’au ${day}`,
    swap: 'Inverser les jours',
    wrong: {
      dates: 'Impossible de chercher à cette date. Choisissez-en une entre 1900 et 2100.',
      reversed: 'Le premier jour vient après le dernier.',
      name: 'Écrivez une partie d’un nom, avec au moins une lettre ou un chiffre.',
      other: 'Ce choix n’est pas compatible avec les autres.',
    },
    suggestions: n => (n === 1 ? '1 suggestion' : `${n} suggestions`),
  },
  results: {
    title: 'Résultats',
    searching: 'Recherche…',
    total: (n, one) => (one || n === '0' ? `${n} article` : `${n} articles`),
    more: n => `Plus de ${n} articles`,
    everything: 'Tous les articles',
    none: 'Aucun article ne correspond.',
    tryNext: 'Ce qui peut aider\u00A0:',
    byMeaning: 'Chercher par le sens, dans les cinq langues',
    without: filter => `Sans «\u00A0${filter}\u00A0»`,
    compact: 'Liste compacte',
    searchBoth: 'Chercher dans titres et textes',
    tryFewer: 'Essayez moins de mots ou d’autres mots, ou retirez un filtre.',
    loadMore: 'Afficher la suite',
    end: 'C’est tout.',
    fresh: (n, one) => (one ? '1 nouvel article' : `${n} nouveaux articles`),
    relevance: percent => `Proximité ${percent}`,
    near: (n, one) =>
      `${one ? '1 article a' : `${n} articles ont`} un sens proche. La suite peut parler d’autre chose.`,
    far: 'Aucun de ces articles n’a un sens clairement proche. Ce que vous cherchez peut pourtant en être.',
    close: n => `${n} proches par le sens`,
    noDate: 'Sans date',
    noTitle: 'Sans titre',
    places: (n, one, late) =>
      one
        ? `1 endroit dans le texte, dans la ${late ? 'seconde' : 'première'} moitié`
        : `${n} endroits dans le texte, le premier dans la ${late ? 'seconde' : 'première'} moitié`,
    empty: 'Il n’y a pas encore d’articles.',
    emptyHow:
      'La personne qui gère ce service le remplit\u00A0: npm run outlets ajoute des médias à parcourir, npm run import vos propres articles.',
    page: 'Page de cet article',
    locked: 'Cette page montre un article. Pour le voir, saisissez votre clé.',
    open: 'Ouvrir l’article',
    noArticle: 'Votre formule ne contient aucun article avec cet identifiant.',
    takenOut: (day: string) => `Cet article a été retiré le ${day}.`,
    owner: 'L’article appartient au média. Son titre y mène.',
  },
  copies: {
    outlets: (n, one) =>
      one
        ? 'Partage l’essentiel de son texte avec 1 média'
        : `Partage l’essentiel de son texte avec ${n} médias`,
    more: (n, one) =>
      one
        ? '1 autre partage l’essentiel de son texte avec cet article'
        : `${n} autres partagent l’essentiel de leur texte avec cet article`,
    texts: (n, one) => (one || n === '0' ? `${n} texte` : `${n} textes`),
    once: 'Chaque texte une fois',
    timeline: 'Textes au fil du temps',
    onceAbout:
      'Sont repliés les articles qui partagent l’essentiel de leur texte : au moins 60 % du plus court. Ils se trouvent sous le premier.',
    shared: 'Commun avec le premier',
    first: 'le premier',
    version: 'une version antérieure ou ultérieure, ou une citation',
    source: 'Source citée',
    headline: 'Titre',
    own: 'Mots originaux',
    languages: n => `Dans d’autres langues : au moins ${n}`,
    days: days =>
      days === 0
        ? 'à moins d’un jour'
        : `${Math.abs(days)} ${Math.abs(days) === 1 ? 'jour' : 'jours'} ${days < 0 ? 'avant' : 'après'}`,
  },
  insights: {
    title: 'Chiffres',
    timeline: 'Articles au fil du temps',
    unit: 'Unité de temps',
    units: {
      fitting: unit => `Adaptée (${unit.toLowerCase()})`,
      hour: 'Par heure',
      day: 'Par jour',
      week: 'Par semaine',
      month: 'Par mois',
      year: 'Par an',
    },
    allTime: 'Toute la période',
    time: 'Période',
    articles: 'Articles',
    brush: 'Cliquez sur une barre, ou glissez sur plusieurs, pour affiner la recherche.',
    asTable: 'Ces chiffres en tableau',
    summary: (bars, unit, when, most) =>
      `Diagramme en barres, ${unit.toLowerCase()}, ${bars} barres. Au plus\u00A0: ${most}, ${when}.`,
    undated: n => `Sans date\u00A0: ${n}`,
    meaning: (found, of) =>
      `Trouvables par le sens pour l’instant\u00A0: ${found} articles sur ${of}.`,
    waiting:
      'Barres pâles\u00A0: certains de ces articles ne sont pas encore trouvables par le sens.',
    failed: 'Les chiffres n’ont pas pu être chargés.',
    completeness: {
      title: 'Présents',
      have: (n, of, outlet) =>
        `présents\u00A0: ${n} sur ${of} annoncés par ${outlet || 'les médias'}`,
      once: 'comptés d’après les seuls flux',
      unread: n => `médias qui n’ont pas pu être lus\u00A0: ${n}`,
      striped:
        'Rayé\u00A0: des articles parus à cette période manquent ici. Pas de barre ne veut pas dire pas d’actualité.',
    },
    by: { outlet: 'Médias', language: 'Langues', country: 'Pays' },
    more: n => `${n} de plus`,
    fewer: 'Moins',
    other: n => `Autres médias\u00A0: ${n}`,
  },
  take: {
    open: 'Emporter',
    download: 'Télécharger',
    downloadAbout:
      'Tous les résultats de cette recherche, page par page, dans les limites de votre formule.',
    pause: 'Suspendre',
    resume: 'Reprendre',
    cancel: 'Annuler',
    writtenOf: (n, total) => `Articles écrits\u00A0: ${n} sur ${total}`,
    done: (n, one) =>
      one || n === '0' ? `Terminé\u00A0: ${n} article.` : `Terminé\u00A0: ${n} articles.`,
    tooLarge:
      'C’est plus que ce que le navigateur garde en mémoire. Affinez la recherche, ou utilisez Chrome ou Edge, qui écrivent dans un fichier.',
    keep: 'Garder',
    tell: 'Me prévenir',
    show: 'Montrer ses adresses',
    feedAbout:
      'Une adresse pour votre lecteur de flux. Qui la connaît lit avec votre clé\u00A0: gardez-la pour vous.',
    feedMeaning:
      'La recherche par le sens ne connaît que les 500 articles les plus proches. Pour suivre l’actualité, cherchez par mots.',
    feedHolds: n => `Il contient les ${n} articles les plus récents.`,
    feedFull: (most, n) =>
      `Cette recherche a eu ${most} articles en un jour, et le flux en contient ${n}. Faites-le lire plusieurs fois par jour, ou affinez la recherche.`,
    subscribe: 'Créer un flux pour cette recherche',
    feedMade: 'Copiez l’adresse maintenant\u00A0: elle n’est montrée qu’une fois.',
    feedAddress: 'Adresse du flux',
    endFeed: 'Arrêter',
    opml: 'Tous les flux en OPML',
    code: 'Utiliser dans un programme',
    codeAbout:
      'La même recherche. La clé vient de PERSCOPE_KEY\u00A0: ce que vous copiez peut être partagé.',
    cite: 'Citer',
    compare: 'Comparer',
  },
  cite: {
    title: 'Une recherche citée',
    about:
      'Une adresse qui montre ces articles pour toujours, même si la recherche en trouve d’autres plus tard.',
    make: 'Créer l’adresse',
    none: 'Il n’y a pas de citation à cette adresse.',
    day: (moment: string) => `Citée le ${moment}`,
    idsOnly:
      'Recherche par le sens\u00A0: les articles sont conservés, la recherche ne peut pas être recalculée.',
    show: 'Montrer les articles',
    outside: (n: string) => `Hors de votre formule, ou supprimés\u00A0: ${n}`,
    locked: 'Pour voir les articles, saisissez votre clé.',
  },
  compare: {
    about:
      'Jusqu’à quatre recherches sur une même chronologie. Modifiez la recherche, puis ajoutez-la.',
    add: 'Ajouter cette recherche',
    by: { language: 'Une recherche par langue', country: 'Une recherche par pays' },
    values: { count: 'Nombre', share: 'Part de tous les articles' },
    texts: 'Compter chaque texte une fois',
    all: 'Tous',
    complete: 'Complet',
    hollow:
      'Creux\u00A0: l’un des jours, moins de neuf dixièmes des articles annoncés par les médias sont présents.',
  },
  alert: {
    title: 'Alerte',
    to: 'Adresse e-mail, ou https://…',
    when: 'Quand',
    atOnce: 'tout de suite',
    daily: 'chaque jour à',
    about:
      'Soyez prévenu des nouveaux articles : par courriel ou vers un webhook, aussitôt ou dans un résumé quotidien, ou dans un lecteur de flux. La recherche est gardée pour cela.',
    nobody: 'personne encore',
    feed: 'flux',
    time: 'Heure du résumé',
    zone: 'Fuseau horaire',
    set: 'M’avertir',
    end: 'Arrêter l’alerte',
    asked: 'Nous avons envoyé un e-mail. Suivez le lien qu’il contient.',
    secret: 'Secret des signatures, affiché une seule fois\u00A0:',
    states: { on: 'active', asked: 'en attente de votre accord', rests: 'en pause' },
  },
  kept: {
    title: 'Recherches enregistrées',
    about:
      'Une recherche gardée compte ce qui est nouveau à votre retour, et le marque dans sa liste.',
    keep: 'Garder cette recherche',
    kept: 'La recherche est enregistrée.',
    notKept: 'La recherche n’a pas pu être gardée.',
    none: 'Vous ne gardez encore aucune recherche. Cherchez, puis choisissez « Garder » au-dessus des résultats.',
    fresh: (articles, texts) => `nouveau : ${articles}, ${texts}`,
    new: 'nouveau',
    byMeaning: 'Pour une recherche par le sens, le nouveau n’est pas compté.',
    name: 'Nom',
    rename: 'Renommer',
    move: 'Déplacer',
    moveAbout: 'Faites-la glisser, ou utilisez les flèches haut et bas.',
    remove: 'Retirer',
  },
  sets: {
    several: 'Plusieurs médias',
    add: 'Ajouter un média',
    title: 'Groupes de médias',
    about:
      'Des médias avec un nom, pour chercher dans tous à la fois. Choisissez des médias parmi les filtres, et gardez-les comme groupe.',
    unknown: domains => `Aucun média n’a ce domaine : ${domains}`,
    save: 'Garder comme groupe',
    name: 'Nom du groupe',
    yours: 'Vos groupes',
    edit: 'Changer ses médias',
  },
  countries: { NL: 'Pays-Bas', BE: 'Belgique', LU: 'Luxembourg' },
  languages: {
    nl: 'Néerlandais',
    fr: 'Français',
    de: 'Allemand',
    lb: 'Luxembourgeois',
    en: 'Anglais',
  },
  failure: {
    title: {
      offline: 'Pas de réponse',
      key: 'Cette clé ne fonctionne pas',
      wait: 'Un instant',
      month: 'Le quota du mois est épuisé',
      request: 'Cette recherche est impossible',
      plan: 'Votre clé ne couvre pas cela',
      semantic: 'La recherche par le sens est indisponible',
      server: 'Une erreur s’est produite',
    },
    offline:
      'Le service est injoignable. Vérifiez votre connexion\u00A0; la page réessaie dès qu’il est de retour.',
    invalid_token:
      'Elle est inconnue ou révoquée. Demandez-en une nouvelle à la personne qui vous l’a donnée.',
    too_many_failed_attempts:
      'Trop de clés erronées sont venues de votre adresse. Attendez, puis collez une clé valide.',
    rate_limit_exceeded:
      'Les requêtes de cette minute sont épuisées. La page reprendra d’elle-même.',
    quota_exceeded:
      'Les requêtes de ce mois sont épuisées. Attendez, ou prenez une formule plus large.',
    invalid_request: 'Corrigez ce qui est marqué, puis cherchez à nouveau.',
    country_not_included: 'Votre formule ne couvre pas tous les pays choisis. Retirez-en un.',
    history_not_included:
      'Votre formule ne remonte pas si loin. Choisissez une date de début plus récente.',
    semantic_search_unavailable:
      'La recherche par mots continue. Réessayez la recherche par le sens dans une demi-minute.',
    service_unavailable: 'La base de données est injoignable. La page réessaie d’elle-même.',
    server: 'Réessayez. Si le problème persiste, prévenez la personne qui gère le service.',
    expired: 'Cette liste de résultats est trop ancienne pour continuer. Cherchez à nouveau.',
    request: id => `Requête ${id}`,
    again: 'Réessayer',
    byWords: 'Chercher par mots',
    in: wait => `Nouvel essai dans ${wait}`,
  },
}
