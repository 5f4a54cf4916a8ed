// The steps of M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980), by the tables
// of the paper.

type Rule = readonly [suffix: string, replacement: string];

const STEP_2: readonly Rule[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
];

const STEP_3: readonly Rule[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];

const STEP_4: readonly string[] = [
  ...[
    'al',
    'ance',
    'ence',
    'er',
    'ic',
    'able',
    'ible',
    'ant',
    'ement',
    'ment',
    'ent',
    'ion',
    'ou',
    'ism',
    'ate',
    'iti',
  ],
  ...['ous', 'ive', 'ize'],
];

/**
 * The stem of an English word in lower-case letters a to z. A word of one or two letters stays
 * unchanged.
 */
export function stem(word: string): string {
  if (word.length <= 2) return word;
  return [plural, past, finalY, suffixes(STEP_2), suffixes(STEP_3), residue, finalE].reduce(
    (rest, step) => step(rest),
    word,
  );
}

function plural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

function past(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const suffix = ['ed', 'ing'].find((each) => word.endsWith(each));
  const rest = suffix === undefined ? '' : word.slice(0, -suffix.length);
  if (!hasVowel(rest)) return word;
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (endsDouble(rest) && !/[lsz]$/.test(rest)) return rest.slice(0, -1);
  return measure(rest) === 1 && endsShort(rest) ? `${rest}e` : rest;
}

function finalY(word: string): string {
  return word.endsWith('y') && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word;
}

/** The longest matching suffix decides, even if its condition fails. */
function suffixes(rules: readonly Rule[]) {
  return (word: string): string => {
    const [suffix, replacement] = longest(rules, ([each]) => word.endsWith(each)) ?? ['', ''];
    const rest = word.slice(0, word.length - suffix.length);
    return suffix !== '' && measure(rest) > 0 ? rest + replacement : word;
  };
}

function residue(word: string): string {
  const [suffix] = longest(
    STEP_4.map((each) => [each] as const),
    ([each]) => word.endsWith(each),
  ) ?? [''];
  const rest = word.slice(0, word.length - suffix.length);
  if (suffix === '' || measure(rest) <= 1) return word;
  return suffix === 'ion' && !/[st]$/.test(rest) ? word : rest;
}

function finalE(word: string): string {
  let rest = word;
  if (word.endsWith('e')) {
    const before = word.slice(0, -1);
    const length = measure(before);
    if (length > 1 || (length === 1 && !endsShort(before))) rest = before;
  }
  return rest.endsWith('ll') && measure(rest) > 1 ? rest.slice(0, -1) : rest;
}

function longest<T extends readonly [string, ...unknown[]]>(
  rules: readonly T[],
  fits: (rule: T) => boolean,
): T | undefined {
  return rules
    .filter(fits)
    .reduce<T | undefined>(
      (best, rule) => (rule[0].length > (best?.[0].length ?? 0) ? rule : best),
      undefined,
    );
}

/** Number of vowel-consonant sequences: m in [C](VC)^m[V]. */
function measure(word: string): number {
  return shape(word).match(/vc/g)?.length ?? 0;
}

function hasVowel(word: string): boolean {
  return shape(word).includes('v');
}

function endsDouble(word: string): boolean {
  return word.length > 1 && word.at(-1) === word.at(-2) && shape(word).endsWith('c');
}

/** o: consonant, vowel, consonant, with a last letter other than w, x or y. */
function endsShort(word: string): boolean {
  return shape(word).endsWith('cvc') && !/[wxy]$/.test(word);
}

/** One character for each letter, v or c. y is a vowel after a consonant. Repetitions stay. */
function shape(word: string): string {
  let shape = '';
  for (const letter of word)
    shape += 'aeiou'.includes(letter) || (letter === 'y' && shape.endsWith('c')) ? 'v' : 'c';
  return shape;
}
