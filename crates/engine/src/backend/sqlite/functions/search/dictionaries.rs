//! What configurations and dictionaries make of tokens.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, OnceLock};

use rowferry_dialect::text_search::{BUILT_IN, Body, LANGUAGES, LanguageId, Rules, SearchObject, TOKENS};
use rowferry_dialect::values::search::vector::MAX_WORD;
use rowferry_dialect::values::search::{Lexeme, Position, Vector};
use rowferry_dialect::{Condition, Error, Result};

use super::parser::Tokens;

/// What a configuration does with tokens.
#[derive(Clone, Debug)]
pub(super) struct Configuration(Arc<[Vec<Dictionary>]>);

/// What makes lexemes of a token.
#[derive(Clone, Debug)]
pub(super) struct Dictionary {
    /// Object id.
    pub(super) oid: u32,
    rules: Result<Rules>,
}

/// PostgreSQL's own configurations, by object id.
static OWN: LazyLock<Vec<(u32, Configuration)>> = LazyLock::new(|| {
    let find = |oid: u32| BUILT_IN.iter().find(|object| object.oid == oid).cloned();
    BUILT_IN.iter().filter_map(|object| Some((object.oid, Configuration::read(object, &find)?))).collect()
});

impl Configuration {
    /// One of PostgreSQL's own.
    pub(super) fn own(oid: u32) -> Option<Self> {
        OWN.iter().find(|(known, _)| *known == oid).map(|(_, configuration)| configuration.clone())
    }

    /// One that is kept, its dictionaries looked up with `find`.
    pub(super) fn read(object: &SearchObject, find: &dyn Fn(u32) -> Option<Arc<SearchObject>>) -> Option<Self> {
        let Body::Configuration(map) = &object.body else { return None };
        let mut tokens = vec![Vec::new(); TOKENS.len() + 1];
        for (token, dictionaries) in map {
            if let Some(place) = tokens.get_mut(usize::from(*token)) {
                let found = dictionaries.iter().filter_map(|oid| Dictionary::read(&*find(*oid)?));
                *place = found.collect();
            }
        }
        Some(Self(tokens.into()))
    }

    /// What is asked about tokens of a type, one after the other; nothing for those that are left out.
    pub(super) fn dictionaries(&self, token: u8) -> &[Dictionary] {
        self.0.get(usize::from(token)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The lexemes of a token, none for a stop word; `None` when no dictionary knows it.
    pub(super) fn lexize(&self, token: u8, text: &str) -> Result<Option<Option<String>>> {
        for dictionary in self.dictionaries(token) {
            if let Some(found) = dictionary.lexize(text)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The words of each language that are left out.
static STOPS: [OnceLock<HashSet<&str>>; LANGUAGES.len()] = [const { OnceLock::new() }; LANGUAGES.len()];

/// Words that English has too many of. The list that others publish has more.
const ENGLISH: &str = "i me my myself we our ours ourselves you your yours yourself yourselves he him his \
    himself she her hers herself it its itself they them their theirs themselves what which who whom this that these \
    those am is are was were be been being have has had having do does did doing a an the and but if or because as \
    until while of at by for with about against between into through during before after above below to from up down \
    in out on off over under again further then once here there when where why how all any both each few more most \
    other some such no nor not only own same so than too very s t can will just don should now";

/// What PostgreSQL's list does not have of the published one, and has instead.
const OTHERWISE: [(&str, &str, &str); 5] = [
    ("german", "dass unsere unserem unseren unseres", "unse unsem unsen unses"),
    ("hungarian", "elsõ elõ elõször elõtt õ õk õket", "első elő először előtt ő ők őket"),
    ("portuguese", "estar haver ser é", ""),
    ("spanish", "vosotras vosotros", "vosostras vosostros"),
    ("french", "ils les", ""),
];

fn published(name: &str) -> &'static [&'static str] {
    let code = match name {
        "danish" => "da",
        "dutch" => "nl",
        "finnish" => "fi",
        "french" => "fr",
        "german" => "de",
        "hungarian" => "hu",
        "italian" => "it",
        "norwegian" => "no",
        "portuguese" => "pt",
        "russian" => "ru",
        "spanish" => "es",
        "swedish" => "sv",
        "turkish" => "tr",
        _ => return &[],
    };
    stop_words::lookup(code).unwrap_or_default()
}

fn stops(language: LanguageId) -> &'static HashSet<&'static str> {
    STOPS[language.at()].get_or_init(|| {
        let name = language.language().name;
        let mut words: HashSet<&str> = published(name).iter().copied().collect();
        if name == "english" {
            words.extend(ENGLISH.split_whitespace());
        }
        for (_, without, with) in OTHERWISE.iter().filter(|(known, ..)| *known == name) {
            words.retain(|word| !without.split(' ').any(|other| other == *word));
            words.extend(with.split_whitespace());
        }
        words
    })
}

/// The stem of a word. Of the two crates, each stems other languages by the rules that PostgreSQL 15 has; French is ours.
fn stem(language: LanguageId, word: &str) -> String {
    use rust_stemmers::{Algorithm, Stemmer};
    let name = language.language().name;
    let older = match name {
        "danish" => Some(Algorithm::Danish),
        "dutch" => Some(Algorithm::Dutch),
        "english" => Some(Algorithm::English),
        "german" => Some(Algorithm::German),
        "italian" => Some(Algorithm::Italian),
        "norwegian" => Some(Algorithm::Norwegian),
        "portuguese" => Some(Algorithm::Portuguese),
        "romanian" => Some(Algorithm::Romanian),
        "spanish" => Some(Algorithm::Spanish),
        "swedish" => Some(Algorithm::Swedish),
        "turkish" => Some(Algorithm::Turkish),
        _ => None,
    };
    if name == "french" {
        return super::french::stem(word);
    }
    let newer = || waken_snowball::Algorithm::from_str(name);
    let stem = match older {
        Some(algorithm) => Stemmer::create(algorithm).stem(word).into_owned(),
        None => newer().map(|algorithm| waken_snowball::stem(algorithm, word).into_owned()).unwrap_or_default(),
    };
    // A word is not stemmed to nothing.
    if stem.is_empty() { word.to_owned() } else { stem }
}

/// Letter by letter.
pub(super) fn lower(text: &str) -> String {
    text.chars()
        .map(|c| {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(only), None) => only,
                _ => c,
            }
        })
        .collect()
}

impl Dictionary {
    /// One that is kept.
    pub(super) fn read(object: &SearchObject) -> Option<Self> {
        let Body::Dictionary(dictionary) = &object.body else { return None };
        Some(Self { oid: object.oid, rules: dictionary.rules() })
    }

    /// The lexeme of a token, `Some(None)` for a stop word; `None` when it does not know the token.
    pub(super) fn lexize(&self, token: &str) -> Result<Option<Option<String>>> {
        /// Longer words have no stems.
        const LONGEST: usize = 1000;
        let rules = self.rules.as_ref().map_err(Clone::clone)?;
        let word = lower(token);
        if rules.stem.is_some() && word.len() > LONGEST {
            return Ok(Some(Some(word)));
        }
        if word.is_empty() || rules.stops.is_some_and(|list| stops(list).contains(word.as_str())) {
            return Ok(Some(None));
        }
        Ok(match rules.stem {
            Some(language) => Some(Some(stem(language, &word))),
            None => rules.accept.then_some(Some(word)),
        })
    }
}

/// Words found so far, and where the last stood.
#[derive(Default)]
pub(super) struct Words {
    pub(super) found: Vec<(String, u32)>,
    pub(super) position: u32,
}

impl Words {
    /// Adds those of a text.
    pub(super) fn add(&mut self, configuration: &Configuration, text: &str) -> Result<()> {
        let mut tokens = Tokens::new(text);
        while let Some((kind, token)) = tokens.next()? {
            if token.len() >= MAX_WORD {
                rowferry_dialect::work::step(1)?;
                return Err(too_long());
            }
            let Some(lexeme) = configuration.lexize(kind, token)? else { continue };
            self.position += 1;
            self.found.extend(lexeme.map(|word| (word, self.position)));
        }
        Ok(())
    }

    /// All of them.
    pub(super) fn vector(self) -> Result<Vector> {
        let lexeme = |(word, position)| Lexeme { word, positions: vec![Position::new(position, 0)] };
        Vector::of(self.found.into_iter().map(lexeme).collect())
    }
}

fn too_long() -> Error {
    Error::new(Condition::ProgramLimitExceeded, "word is too long to be indexed")
        .detail("Words longer than 2047 characters are ignored.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What PostgreSQL 15 makes of words of each language.
    const STEMS: [(&str, &str); 27] = [
        ("arabic", "بوضآهم=وضء كةءزانتها=كةءزان أمصي=امص"),
        ("armenian", "աքսիոմին=աքսիոմ ֆուզիոնի=ֆուզիոն կորացումը=կորաց նշանվում=նշան"),
        ("basque", "euskaratu=eusk kilan=kil txarreko=txarr ergilearen=ergilea utzitarira=utzi"),
        ("catalan", "decideixin=decid miwoks=miwok pretenent=preten segellada=segell monticles=montic"),
        ("danish", "fares=far skændedige=skænded billedstøtte=billedstøt halvet=halv støder=stød"),
        ("dutch", "hoofdkantoor=hoofdkantor hinderde=hinderd gasthuisannen=gasthuisann beters=beter"),
        ("english", "aspirending=aspirend redolent=redol westwards=westward memoirs=memoir hums=hum"),
        ("finnish", "auringonlaskua=auringonlasku esivaali=esivaal akseliin=aksel atooppinen=atooppin"),
        ("french", "réunissaient=réun futres=futr excusée=excus ébranla=ébranl habilla=habill"),
        ("german", "verwunderten=verwundert hausbesetzer=hausbesetz schmelzers=schmelz abholen=abhol wässerte=wassert"),
        ("greek", "στείρωση=στειρωσ όχθης=οχθ μεσαιωνικής=μεσαιωνικ θυρεοειδή=θυρεοειδ ιού=ιού"),
        ("hindi", "कुंडलियाँ=कुंडल पेरो=पेर मृदुभाषी=मृदुभाष पीएलसी=पीएलस"),
        ("hungarian", "magukét=magu kisvonatoztunk=kisvonatozt alakulna=alakuln balsorsa=balsors"),
        ("indonesian", "terganas=ganas berasil=asil metallicus=tallicus mengharuskan=harus pensinyal=sinyal"),
        ("irish", "fhaiche=faiche ndoraí=doraí aonrianach=aonrian chríochanigh=críochanigh thiompú=tiompú"),
        ("italian", "basta=bast zimarra=zimarr scalmanarsi=scalman sinigaglia=sinigagl stolti=stolt"),
        ("lithuanian", "pašalinio=pašalin garu=gar prijungiamias=prijungi redakcija=redakcij rainti=rain"),
        ("norwegian", "innrømmet=innrømm leigeavtalane=leigeavtal damper=damp konsekvensen=konsekvens lapper=lapp"),
        ("portuguese", "alcança=alcanc villa=vill demarcações=demarc dignidade=dignidad lideranças=lideranc"),
        ("romanian", "divulgativ=divulg unitară=unit conlucrare=conlucr adresant=adres solicitaţi=solicit"),
        ("russian", "изумился=изум отброшенный=отброшен моего=мо подсудимому=подсудим"),
        ("serbian", "jednostavne=jednostavn glumicom=glumic zahvatale=zahvata udružuje=udružuj"),
        ("spanish", "infinidad=infin jugar=jug defenderse=defend abandonó=abandon elier=eli"),
        ("swedish", "vårarna=vår lågande=låg avlägsna=avlägsn husnummer=husnumm gällde=gälld"),
        ("tamil", "பெகிறது=பெ"),
        ("turkish", "aydınımızdan=aydın bekleyişte=bekleyiş frenleyebildi=frenleyebil ziyaretimize=ziyaret ları=ları"),
        ("yiddish", "כליאַפּעסטו=כליאפע אָפּגעגעסנס=אפגעס רישעותדיקע=רישעות"),
    ];

    #[test]
    fn stems_are_those_of_postgresql() {
        for (name, words) in STEMS {
            let language = LanguageId::named(name).unwrap();
            for (word, expected) in words.split_whitespace().filter_map(|pair| pair.split_once('=')) {
                assert_eq!(stem(language, &lower(word)), expected, "{name} {word}");
            }
        }
    }

    #[test]
    fn lists_of_words_that_are_left_out_are_as_long_as_those_of_postgresql() {
        let lengths = [
            ("danish", 94),
            ("dutch", 101),
            ("english", 127),
            ("finnish", 229),
            ("french", 155),
            ("german", 231),
            ("hungarian", 198),
            ("italian", 279),
            ("norwegian", 172),
            ("portuguese", 203),
            ("russian", 151),
            ("spanish", 313),
            ("swedish", 114),
            ("turkish", 53),
        ];
        for (name, length) in lengths {
            assert_eq!(stops(LanguageId::named(name).unwrap()).len(), length, "{name}");
        }
        assert_eq!(lengths.len() + 1, LANGUAGES.iter().filter(|language| language.stops).count());
    }
}
