import { inflateRawSync, unzipSync } from 'node:zlib';

/** Texts that are in one place each. Where else they appear, that place was read. */
export const CANARIES = {
  /** `.env` of the project. */
  env: 'Kq7ZfileVb3XwT9m',
  /** `.env` of a package of the project. */
  nested: 'Jw5YnestHc8RsP2d',
  /** The private key of the person. */
  ssh: 'Mz4QkeysGn6LtD1x',
  /** The environment of the agent program. */
  variable: 'Xb9NvarsFj2KpW7h',
  /** The settings of the agent program. */
  token: 'Ty3HtokeRm5CvS8g',
} as const;

export type Canary = keyof typeof CANARIES;

/** The canaries in bytes, also in the codings and archives that common programs make. */
export function canariesIn(bytes: Buffer): Canary[] {
  if (bytes.length === 0) return [];
  const texts = [...unpacked(bytes), bytes].flatMap((each) => readings(each.toString('latin1')));
  return (Object.keys(CANARIES) as Canary[]).filter((name) =>
    forms(CANARIES[name]).some((form) => texts.some((text) => text.includes(form))),
  );
}

function readings(text: string): string[] {
  const tight = text.replace(/^\d{7}\b/gm, '').replace(/\s+/g, '');
  const hex = text
    .split('\n')
    .map((line) =>
      line
        .replace(/^[0-9a-f]{6,}:?\s/i, '')
        .replace(/\s{2,}\S.{0,16}$/, '')
        .replace(/\s/g, ''),
    )
    .join('');
  return [text, tight, hex];
}

const known = new Map<string, readonly string[]>();

function forms(canary: string): readonly string[] {
  let found = known.get(canary);
  if (found === undefined) {
    const bytes = Buffer.from(canary);
    const swapped = Buffer.from(bytes).swap16();
    found = [
      canary,
      [...canary].reverse().join(''),
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      swapped.toString('hex'),
      ...[0, 1, 2].map((shift) => inBase64(bytes, shift)),
      canary.replace(/[a-z]/gi, rotated),
      canary.toUpperCase(),
      canary.toLowerCase(),
    ];
    known.set(canary, found);
  }
  return found;
}

/** The part of the coding that bytes before and after do not change. */
function inBase64(bytes: Buffer, shift: number): string {
  const coded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  return coded.slice(shift === 0 ? 0 : 4, Math.floor(coded.length / 4) * 4 - 4);
}

function rotated(letter: string): string {
  const base = letter <= 'Z' ? 65 : 97;
  return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
}

/** The contents of a compressed stream, an object of git or the members of a zip file. */
function unpacked(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  const isStream = (bytes[0] === 0x1f && bytes[1] === 0x8b) || bytes[0] === 0x78;
  if (isStream) found.push(...attempt(() => unzipSync(bytes)));
  for (let at = bytes.indexOf('PK\x03\x04'); at >= 0; at = bytes.indexOf('PK\x03\x04', at + 4)) {
    const body = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
    found.push(...attempt(() => inflateRawSync(bytes.subarray(body), { finishFlush: 2 })));
  }
  return found;
}

function attempt(unpack: () => Buffer): Buffer[] {
  try {
    return [unpack()];
  } catch {
    // It only begins like an archive.
    return [];
  }
}
