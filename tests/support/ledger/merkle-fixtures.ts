import fc from 'fast-check';
import { cosign } from '../../../packages/assize/src/merkle/cosignature.ts';
import { MerkleError } from '../../../packages/assize/src/merkle/errors.ts';
import { Frontier, type TreeNode } from '../../../packages/assize/src/merkle/frontier.ts';
import { leafHash } from '../../../packages/assize/src/merkle/hash.ts';
import { formatNote } from '../../../packages/assize/src/merkle/note.ts';
import { type SignerKey, signerKey } from '../../../packages/assize/src/merkle/note-key.ts';
import { signNote } from '../../../packages/assize/src/merkle/open-note.ts';
import type { NodeReader } from '../../../packages/assize/src/merkle/tree.ts';

export const ORIGIN = 'log.example/ledger';

/** Key number n; the same in every run. */
export function seed(n: number): string {
  return n.toString(16).padStart(2, '0').repeat(32);
}

export const LOG: SignerKey = signerKey(ORIGIN, 'note', seed(1));
export const WITNESSES: readonly SignerKey[] = [2, 3, 4].map((n) =>
  signerKey(`witness.example/w${n}`, 'cosignature', seed(n)),
);
export const STRANGER: SignerKey = signerKey('stranger.example', 'note', seed(9));

/** A log with the nodes that a store would keep. */
export function logOf(data: readonly string[]): {
  frontier: Frontier;
  nodes: TreeNode[];
  read: NodeReader;
} {
  const frontier = new Frontier();
  const nodes = frontier.append(data.map((text) => leafHash(text)));
  return { frontier, nodes, read: readerOf(nodes) };
}

export function readerOf(nodes: readonly TreeNode[]): NodeReader {
  const kept = new Map(nodes.map(({ level, index, hash }) => [`${level}/${index}`, hash]));
  return (level, index) => kept.get(`${level}/${index}`);
}

/**
 * The text of a checkpoint, signed by the log and cosigned by witnesses, the n-th at 1,700,000,000
 * + n.
 */
export function signedNote(text: string, witnesses: readonly SignerKey[] = []): string {
  const cosignatures = witnesses.map((key, n) => cosign(text, key, 1_700_000_000 + n));
  return formatNote({ text, signatures: [signNote(text, LOG), ...cosignatures] });
}

export function entries(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `{"kind":"commit","seq":${n}}`);
}

export function hex(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('hex');
}

/**
 * The code of the MerkleError that the call throws. Undefined if it throws nothing. Other errors
 * propagate.
 */
export function codeOf(call: () => unknown): MerkleError['code'] | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof MerkleError) return error.code;
    throw error;
  }
}

export function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

/**
 * An attacker's changes to a text: characters removed, replaced, inserted; lines dropped, doubled,
 * swapped.
 */
export function damaged(text: string): fc.Arbitrary<string> {
  const place = fc.nat({ max: text.length });
  const piece = fc.oneof(
    fc.constantFrom(
      '\n',
      '\n\n',
      ' ',
      '+',
      '0',
      '=',
      'A',
      '\u2014 ',
      '\r',
      '\t',
      '\0',
      '\u00a0',
      '\ufeff',
      '\ud800',
      'é',
    ),
    fc.string({ maxLength: 3 }),
  );
  const splice = fc.tuple(place, fc.nat({ max: 3 }), fc.option(piece, { nil: '' })).map(
    ([at, drop, put]) =>
      (old: string) =>
        old.slice(0, at) + put + old.slice(at + drop),
  );
  const lines = text.split('\n');
  const line = fc.nat({ max: lines.length - 1 });
  const shuffle = fc
    .tuple(line, line, fc.constantFrom('drop', 'double', 'swap'))
    .map(([a, b, how]) => (old: string) => {
      const all = old.split('\n');
      if (a >= all.length || b >= all.length) return old;
      if (how === 'drop') all.splice(a, 1);
      else if (how === 'double') all.splice(b, 0, all[a]!);
      else [all[a], all[b]] = [all[b]!, all[a]!];
      return all.join('\n');
    });
  return fc
    .array(fc.oneof({ weight: 3, arbitrary: splice }, { weight: 1, arbitrary: shuffle }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((steps) => steps.reduce((old, step) => step(old), text));
}

/** Invalid input: text, bytes, and values of other types. */
export const RUBBISH: fc.Arbitrary<unknown> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.uint8Array(),
  fc.constantFrom(
    undefined,
    null,
    0,
    {},
    [],
    '',
    '\n',
    '\n\n',
    '\n\n\n',
    '\u2014 \n',
    new Uint8Array(0),
  ),
  fc.anything(),
);
