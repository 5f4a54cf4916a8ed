import { isPlain, type KeyForm } from './key.ts';

/** Reads the keys of a form, one character per step. */
export interface KeyReader {
  /** Whether a key may end here. */
  readonly isEnd: boolean;
  readonly steps: readonly Step[];
}

interface Step {
  readonly on: readonly string[];
  readonly to: KeyReader;
  /** Whether the key of an effect starts here. */
  readonly isEffectKey?: boolean;
}

/**
 * The shortest key that calls of two tools may share, or undefined. The result is exact for string
 * inputs, except that a field used twice in one form counts as two fields.
 * Both readers run as automata that take each step together. The search therefore tries only the
 * pairs of their states.
 */
export function commonKey(one: KeyReader, other: KeyReader): string | undefined {
  const tried = new Map<KeyReader, Set<KeyReader>>();
  const reached: { readonly a: KeyReader; readonly b: KeyReader; readonly text: string }[] = [];
  const reach = (a: KeyReader, b: KeyReader, text: string): void => {
    const beside = tried.get(a) ?? new Set();
    if (beside.has(b)) return;
    tried.set(a, beside.add(b));
    reached.push({ a, b, text });
  };
  reach(one, other, '');
  for (const { a, b, text } of reached) {
    if (a.isEnd && b.isEnd) return text;
    for (const step of a.steps) {
      for (const beside of b.steps) {
        // Two effects never have the same key, so their keys do not both start here.
        if (step.isEffectKey === true && beside.isEffectKey === true) continue;
        const sign = step.on.find((each) => beside.on.includes(each));
        if (sign !== undefined) reach(step.to, beside.to, text + sign);
      }
    }
  }
  return undefined;
}

/** Built from the end: each part continues with the reader of the rest. */
export function keyReader(form: KeyForm): KeyReader {
  return form.reduceRight<KeyReader>(
    (rest, part) => {
      if (typeof part === 'string') return readsText(part, rest);
      return part.of === 'effect' ? readsEffectKey(rest) : readsValue(part.escaped, rest);
    },
    { isEnd: true, steps: [] },
  );
}

function readsText(text: string, rest: KeyReader): KeyReader {
  return [...text].reduceRight<KeyReader>((to, sign) => ({ isEnd: false, steps: [{ on: [sign], to }] }), rest);
}

const HEX = [...'0123456789abcdef'];

/** The number of hex digits in an `effectKey`. */
const EFFECT_KEY_DIGITS = 64;

function readsEffectKey(rest: KeyReader): KeyReader {
  let to = rest;
  for (let n = EFFECT_KEY_DIGITS; n > 0; n--)
    to = { isEnd: false, steps: [{ on: HEX, to, ...(n === 1 && { isEffectKey: true }) }] };
  return to;
}

const PLAIN = Array.from({ length: 128 }, (_, code) => code)
  .filter(isPlain)
  .map((code) => String.fromCharCode(code))
  // Letters first: two effect keys, each read next to a value, then come out with different digits.
  .reverse();

/** Reads any characters, each plain or escaped, and then the rest. */
function readsValue(escaped: number, rest: KeyReader): KeyReader {
  const steps = [...rest.steps];
  const value: KeyReader = { isEnd: rest.isEnd, steps };
  steps.push({ on: PLAIN, to: value }, ...readsBytes(CHARACTERS, escaped, value).steps);
  return value;
}

/** Escaped bytes, by their digits. */
type Bytes = readonly { readonly high: string; readonly lows: readonly string[] }[];

function bytes(from: number, to: number): Bytes {
  const isEscaped = (byte: number): boolean => from <= byte && byte <= to && !isPlain(byte);
  return HEX.map((high) => ({ high, lows: HEX.filter((low) => isEscaped(Number.parseInt(high + low, 16))) })).filter(
    ({ lows }) => lows.length > 0,
  );
}

const NEXT = bytes(0x80, 0xbf);

/** The bytes of one character: The Unicode Standard, table 3-7. */
const CHARACTERS: readonly (readonly Bytes[])[] = [
  [bytes(0x00, 0x7f)],
  [bytes(0xc2, 0xdf), NEXT],
  [bytes(0xe0, 0xe0), bytes(0xa0, 0xbf), NEXT],
  [bytes(0xe1, 0xec), NEXT, NEXT],
  [bytes(0xed, 0xed), bytes(0x80, 0x9f), NEXT],
  [bytes(0xee, 0xef), NEXT, NEXT],
  [bytes(0xf0, 0xf0), bytes(0x90, 0xbf), NEXT, NEXT],
  [bytes(0xf1, 0xf3), NEXT, NEXT, NEXT],
  [bytes(0xf4, 0xf4), bytes(0x80, 0x8f), NEXT, NEXT],
];

/** Reads one of these characters, with each byte escaped the given number of times. */
function readsBytes(choice: readonly (readonly Bytes[])[], escaped: number, rest: KeyReader): KeyReader {
  const steps = choice.flatMap(([first, ...more]): Step[] => {
    const to = more.length === 0 ? rest : readsBytes([more], escaped, rest);
    return first!.map(({ high, lows }) => ({ on: [high], to: { isEnd: false, steps: [{ on: lows, to }] } }));
  });
  // If the escape is escaped itself, its percent sign is escaped too.
  return readsText(`%${'25'.repeat(escaped - 1)}`, { isEnd: false, steps });
}
