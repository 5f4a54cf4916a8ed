// A browser imports this file, so it imports no other code.

/**
 * Invisible characters: controls, formats (zero-width, directions), lone surrogates, private use,
 * characters that Unicode lets a program show as nothing (variation selectors, fillers), and the
 * blank Braille pattern.
 */
export const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/u;
const ALL_UNSEEN = new RegExp(UNSEEN, 'gu');

/**
 * Whether two names may stand for one principal: they are equal without invisible characters, in
 * compatibility form (NFKC), without the difference of capitals, and without accents and other
 * marks of letters. Letters of other scripts that look like Latin ones count as these. A writ's
 * subject can be any text, and so can names in older ledgers.
 */
export function isSamePrincipal(one: string, other: string): boolean {
  if (one === other) return true;
  const [plainOne, plainOther] = [plainName(one), plainName(other)];
  return (
    folded(plainOne) === folded(plainOther) ||
    folded(inLatin(plainOne)) === folded(inLatin(plainOther))
  );
}

/** The names of the server and of its own work begin with this. No principal has such a name. */
const RESERVED = 'assize:';

/** Whether a name begins with the reserved prefix, or with a text that looks like it. */
export function hasReservedPrefix(name: string): boolean {
  return beginsLike(name, RESERVED);
}

/** Whether a name begins with a text of small Latin letters, or with one that looks like it. */
export function beginsLike(name: string, text: string): boolean {
  return folded(inLatin(plainName(name))).startsWith(text);
}

function plainName(name: string): string {
  return name
    .normalize('NFKC')
    .replace(ALL_UNSEEN, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .normalize('NFKC');
}

/** Accents, dots and other marks that combine with a letter. Marks of kana are letters. */
const MARKS = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/gu;

/** Without marks and the difference of capitals. By capitals first, so that ß is ss. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase().normalize('NFD').replace(MARKS, '').normalize('NFKC');
}

function inLatin(name: string): string {
  return name.replace(FOREIGN, (letter) => LATIN.get(letter) ?? letter);
}

/** Cyrillic, Greek, Armenian and phonetic letters, each list with the Latin letters below it. */
const LOOK_ALIKE = [
  ['авесԁһіјкӏорԛѕуѵԝхАВЕКМНОРСТУХЅІЈԌԚԜѴӀ', 'aвecdhijklopqsyvwxABEKMHOPCTYXSIJGQWVI'],
  ['αγικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'ayikvoptuxABEZHIKMNOPTYX'],
  ['ցհոօզսԼՕՏ', 'ghnoquLOS'],
  ['ɑɡɩʋ', 'agiu'],
] as const;
const LATIN: ReadonlyMap<string, string> = new Map(
  LOOK_ALIKE.flatMap(([foreign, latin]) =>
    [...foreign].map((letter, at) => [letter, [...latin][at] as string]),
  ),
);
const FOREIGN = new RegExp(`[${[...LATIN.keys()].join('')}]`, 'gu');
