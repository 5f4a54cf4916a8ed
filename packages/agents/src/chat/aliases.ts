/** Two names for one thing. */
export interface AliasPair {
  readonly alias: string;
  readonly name: string;
}

interface NameClass {
  readonly name: string;
  /** All names with the chosen one first, the others in code-point order. */
  readonly all: readonly string[];
}

/**
 * Names that mean one thing, as classes: pairs are symmetric and transitive. The name of a class is
 * one that no pair calls an alias; of several, or in a circle, the first in code-point order. So
 * the order of the pairs has no influence. Names compare without case and with single spaces.
 */
export class Aliases {
  readonly #classes: ReadonlyMap<string, NameClass>;

  constructor(pairs: readonly AliasPair[]) {
    this.#classes = classesOf(pairs);
  }

  /** The name of the class; a text of no class as it is. */
  nameOf(text: string): string {
    return this.#classes.get(nameKey(text))?.name ?? text;
  }

  /** The names of the class of a text, and the text alone without one. */
  namesOf(text: string): readonly string[] {
    return this.#classes.get(nameKey(text))?.all ?? [text];
  }

  /** Whether two texts mean one thing. */
  isSame(a: string, b: string): boolean {
    return a === b || (this.#classes.has(nameKey(a)) && this.nameOf(a) === this.nameOf(b));
  }

  /** The classes, each once, in code-point order of their names. */
  classes(): readonly NameClass[] {
    return [...new Set(this.#classes.values())].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The other names of each thing that a text mentions. */
  otherNamesIn(text: string): readonly string[] {
    const words = ` ${wordsKey(text)} `;
    const mentions = (name: string): boolean => {
      const key = wordsKey(name);
      return key !== '' && words.includes(` ${key} `);
    };
    return this.classes().flatMap(({ all }) =>
      all.some(mentions) ? all.filter((name) => !mentions(name)) : [],
    );
  }
}

/** The form in which names compare. */
export function nameKey(text: string): string {
  return text.normalize('NFC').toLowerCase().normalize('NFC').trim().replaceAll(/\s+/gu, ' ');
}

/** The letters and digits alone, for the search of a name in a text. */
function wordsKey(text: string): string {
  return nameKey(text)
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();
}

function classesOf(pairs: readonly AliasPair[]): Map<string, NameClass> {
  const parent = new Map<string, string>();
  const spellings = new Map<string, Set<string>>();
  const aliases = new Set<string>();
  const rootOf = (key: string): string => {
    let root = key;
    while (parent.get(root) !== root) root = parent.get(root)!;
    for (let at = key; at !== root; ) {
      const next = parent.get(at)!;
      parent.set(at, root);
      at = next;
    }
    return root;
  };
  const node = (text: string): string => {
    const key = nameKey(text);
    if (!parent.has(key)) parent.set(key, key);
    spellings.set(key, (spellings.get(key) ?? new Set()).add(text));
    return key;
  };
  for (const { alias, name } of pairs) {
    const [from, to] = [node(alias), node(name)];
    // A name that means itself is not an alias.
    if (from === to) continue;
    aliases.add(from);
    parent.set(rootOf(from), rootOf(to));
  }
  const members = Map.groupBy(parent.keys(), rootOf);
  const classes = new Map<string, NameClass>();
  for (const keys of members.values()) {
    if (keys.length === 1) continue;
    const chosen = first(keys.filter((key) => !aliases.has(key))) ?? first(keys)!;
    const name = first([...spellings.get(chosen)!])!;
    const others = keys.flatMap((key) => [...spellings.get(key)!]).filter((text) => text !== name);
    const found = { name, all: [name, ...others.sort(byCodePoint)] };
    for (const key of keys) classes.set(key, found);
  }
  return classes;
}

function first(texts: readonly string[]): string | undefined {
  return [...texts].sort(byCodePoint)[0];
}

function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
