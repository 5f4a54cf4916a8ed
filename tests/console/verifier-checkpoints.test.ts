/** The page's checks of checkpoints: alone, with an earlier one, and beside an export. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatAddCheckpoint,
  formatVerifierKey,
  leafHash,
  type SignerKey,
  verifyConsistency,
} from '#merkle';
import { hexOf } from '../../console/verify/bytes/text.ts';
import { checkLog, type GivenTexts } from '../../console/verify/checkpoint/check-log.ts';
import { readConsistency } from '../../console/verify/checkpoint/consistency-proof.ts';
import { readKey } from '../../console/verify/log/key.ts';
import { Leaves } from '../../console/verify/log/leaves.ts';
import { continues } from '../../console/verify/log/tree.ts';
import { kindOf, reasonFor } from '../../console/verify/page/file-kind.ts';
import { formatCheckpoint } from '../../packages/assize/src/merkle/checkpoint.ts';
import { LOG, ORIGIN, STRANGER, signedNote, WITNESSES } from '../support/ledger/merkle-fixtures.ts';
import { NaiveTree } from '../support/models/naive-tree.ts';

const DATA = Array.from({ length: 40 }, (_, n) => `entry ${n}`);
const TREE = new NaiveTree(DATA);
const FORKED = new NaiveTree(DATA.map((text, n) => (n === 3 ? 'forged' : text)));
const [WITNESS, ABSENT] = WITNESSES as [SignerKey, SignerKey];
const key = (one: SignerKey) => readKey(formatVerifierKey(one))!;
const KEYS = { log: key(LOG), witnesses: [] };
const NONE: GivenTexts = { checkpoint: '', earlier: '', proof: '' };

const bytes = (hash: Buffer): Uint8Array => new Uint8Array(hash);
const headOf = (tree: NaiveTree, size: number) => ({
  size: BigInt(size),
  root: bytes(tree.mth(0, size)),
});

/** A checkpoint of the first entries, signed by the log. */
function signed(size: number, tree: NaiveTree = TREE, origin: string = ORIGIN): string {
  return signedNote(formatCheckpoint({ origin, ...headOf(tree, size) }), [WITNESS]);
}

/** The proof between two sizes, one hash a line. */
function proofOf(from: number, to: number, tree: NaiveTree = TREE): string {
  return tree
    .proof(from, to)
    .map((hash) => `${hash.toString('base64')}\n`)
    .join('');
}

function leavesOf(size: number): Leaves {
  const leaves = new Leaves();
  for (const text of DATA.slice(0, size)) leaves.append(leafHash(text));
  return leaves;
}

async function reasons(
  texts: Partial<GivenTexts>,
  keys: Parameters<typeof checkLog>[1] = KEYS,
  leaves?: Leaves,
) {
  const { findings } = await checkLog({ ...NONE, ...texts }, keys, leaves);
  return findings.faults.map(({ code, reason }) => `${code}: ${reason}`);
}

describe('the tree', () => {
  test('the root of any number of leaves is that of the naive tree', async () => {
    const leaves = leavesOf(DATA.length);
    for (let size = 0; size <= DATA.length; size++) {
      const root = hexOf(bytes(TREE.mth(0, size)));
      expect(hexOf(await leaves.rootAt(size, () => undefined))).toBe(root);
      expect(hexOf(leavesOf(size).root())).toBe(root);
    }
  });

  test('a proof holds if and only if it holds for the runtime', () => {
    const sizes = fc.integer({ min: 1, max: DATA.length });
    const change = fc.constantFrom('none', 'forked', 'less', 'more', 'swapped', 'other end');
    let holding = 0;
    fc.assert(
      fc.property(sizes, sizes, change, (a, b, how) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const honest = TREE.proof(from, to).map(bytes);
        const proof =
          how === 'less'
            ? honest.slice(1)
            : how === 'more'
              ? [...honest, honest[0] ?? bytes(TREE.leaf(0))]
              : honest;
        const older = headOf(how === 'forked' ? FORKED : TREE, from);
        const newer = headOf(TREE, how === 'other end' ? Math.max(1, to - 1) : to);
        const given = how === 'swapped' ? proof.toReversed() : proof;
        const expected = verifyConsistency(older, newer, given);
        if (expected) holding += 1;
        expect(continues(older, newer, given)).toBe(expected);
      }),
      { numRuns: 500 },
    );
    expect(holding).toBeGreaterThan(50);
  });

  test('every tree continues one without leaves', () => {
    const empty = headOf(TREE, 0);
    expect(continues(empty, headOf(TREE, 7), [])).toBe(true);
    expect(continues(empty, headOf(TREE, 7), [bytes(TREE.leaf(0))])).toBe(false);
    expect(continues({ ...empty, root: bytes(TREE.leaf(0)) }, headOf(TREE, 7), [])).toBe(false);
  });
});

describe('a checkpoint alone', () => {
  test('is checked by the keys of the reader only', async () => {
    expect(await reasons({ checkpoint: signed(5) })).toEqual([]);
    expect(await reasons({ checkpoint: signed(5) }, {})).toEqual([]);
    expect(await reasons({ checkpoint: signed(5).trimEnd() })).toEqual([]);
    expect(
      await reasons({ checkpoint: signed(5) }, { ...KEYS, witnesses: [key(WITNESS)] }),
    ).toEqual([]);
    const { findings } = await checkLog({ ...NONE, checkpoint: signed(5) }, {}, undefined);
    expect(findings.countOf('checkpoint')).toBe(0);
  });

  test.each([
    [
      'another size',
      signed(5).replace('\n5\n', '\n6\n'),
      'bad_checkpoint: The key that you gave did not sign the checkpoint.',
    ],
    [
      'another root',
      signed(5).replace(/\n[^\n]{43}=\n/, `\n${TREE.mth(0, 6).toString('base64')}\n`),
      'bad_checkpoint: The key that you gave did not sign the checkpoint.',
    ],
    [
      'another log',
      signed(5, TREE, 'other.example'),
      `bad_checkpoint: The checkpoint is of the log other.example, and the key that you gave is of ${ORIGIN}.`,
    ],
    [
      'no signatures',
      signed(5).split('\n\n')[0]!,
      'bad_checkpoint: The checkpoint has no signatures below an empty line.',
    ],
    [
      'no size',
      signed(5).replace('\n5\n', '\nfive\n'),
      'bad_checkpoint: The checkpoint has no size in its second line.',
    ],
    [
      'a cut signature',
      signed(5).replace(/=\n$/, '\n'),
      'bad_checkpoint: The checkpoint has a signature line of another form.',
    ],
  ])('%s is named', async (_, checkpoint, reason) => {
    expect(checkpoint).not.toBe(signed(5));
    expect(await reasons({ checkpoint })).toEqual([reason]);
  });

  test('a witness that did not cosign, or cosigned another text, is named', async () => {
    const absent = await reasons({ checkpoint: signed(5) }, { witnesses: [key(ABSENT)] });
    expect(absent).toEqual([
      `not_witnessed: The witness ${ABSENT.name} did not cosign the checkpoint.`,
    ]);
    const changed = signed(5).replace('\n5\n', '\n6\n');
    expect(await reasons({ checkpoint: changed }, { witnesses: [key(WITNESS)] })).toEqual([
      `not_witnessed: A cosignature of the witness ${WITNESS.name} does not hold.`,
    ]);
  });
});

describe('with an earlier checkpoint', () => {
  const later = signed(20);

  test('a proof shows that the log continues it', async () => {
    for (const size of [1, 7, 8, 19]) {
      expect(
        await reasons({ checkpoint: later, earlier: signed(size), proof: proofOf(size, 20) }),
      ).toEqual([]);
      const request = formatAddCheckpoint(BigInt(size), TREE.proof(size, 20).map(bytes), later);
      expect(await reasons({ checkpoint: later, earlier: signed(size), proof: request })).toEqual(
        [],
      );
      expect((readConsistency(request) as { checkpoint?: string }).checkpoint).toBe(later);
    }
    expect(await reasons({ checkpoint: later, earlier: later })).toEqual([]);
    expect(await reasons({ checkpoint: later, earlier: signed(7) })).toEqual([]);
  });

  const broken =
    'diverged: The proof does not show that this checkpoint continues the earlier one.';
  test.each([
    ['another history', { earlier: signed(7, FORKED), proof: proofOf(7, 20) }, broken],
    ['a proof of another history', { earlier: signed(7), proof: proofOf(7, 20, FORKED) }, broken],
    [
      'a hash less',
      { earlier: signed(7), proof: proofOf(7, 20).split('\n').slice(1).join('\n') },
      broken,
    ],
    [
      'a proof of other sizes',
      { earlier: signed(7), proof: `old 8\n${proofOf(7, 20)}` },
      'diverged: The proof begins at 8 entries, and the earlier checkpoint has 7.',
    ],
    [
      'no hash',
      { earlier: signed(7), proof: 'hash\n' },
      'bad_checkpoint: The proof of consistency has a line that is not a hash in Base64.',
    ],
    [
      'a log that shrank',
      { earlier: signed(21) },
      'diverged: The log had 21 entries at the earlier checkpoint, and has 20 at this one.',
    ],
    [
      'two histories of one size',
      { earlier: signed(20, FORKED) },
      'diverged: Both checkpoints have 20 entries, and different roots: the log showed two histories.',
    ],
    [
      'an earlier one of another key',
      { earlier: signed(7).replace('\n7\n', '\n6\n') },
      'bad_checkpoint: The key that you gave did not sign the earlier checkpoint.',
    ],
    [
      'no later one',
      { checkpoint: '', earlier: signed(7) },
      'bad_checkpoint: There is an earlier checkpoint or a proof, and no later checkpoint.',
    ],
  ])('%s is named', async (_, texts, reason) => {
    expect(await reasons({ checkpoint: later, ...texts })).toEqual([reason]);
  });

  test('another log is named, with and without its key', async () => {
    const other = signed(7, TREE, 'other.example');
    const reason = 'diverged: The earlier checkpoint is of another log: other.example.';
    expect(await reasons({ checkpoint: later, earlier: other }, {})).toEqual([reason]);
    expect(await reasons({ checkpoint: later, earlier: other })).toContain(reason);
    expect((await reasons({ checkpoint: later }, { log: key(STRANGER) }))[0]).toContain(
      'is of stranger.example.',
    );
  });
});

describe('beside an export', () => {
  test('a checkpoint of any number of its entries has their root', async () => {
    for (const size of [1, 19, 20])
      expect(await reasons({ checkpoint: signed(size) }, KEYS, leavesOf(20))).toEqual([]);
    expect(
      await reasons({ checkpoint: signed(20), earlier: signed(6) }, KEYS, leavesOf(20)),
    ).toEqual([]);
  });

  test('other entries, a missing end and another earlier history are named', async () => {
    const wrong = (size: number, name = '') =>
      `not_logged: The first ${size} entries of the export do not have the root ${FORKED.mth(0, size).toString('base64')} of the ${name}checkpoint.`;
    expect(await reasons({ checkpoint: signed(20, FORKED) }, KEYS, leavesOf(20))).toEqual([
      wrong(20),
    ]);
    expect(await reasons({ checkpoint: signed(21) }, KEYS, leavesOf(20))).toEqual([
      'not_logged: The checkpoint has 21 entries, and the export has 20: its end is missing.',
    ]);
    expect(
      await reasons({ checkpoint: signed(20), earlier: signed(7, FORKED) }, KEYS, leavesOf(20)),
    ).toEqual([wrong(7, 'earlier ')]);
  });
});

test('a file is known by its content', () => {
  const kind = (text: string) => kindOf(new TextEncoder().encode(text));
  expect(kind('PK\u0003\u0004…')).toBe('bundle');
  expect(kind('{"format":"assize/export/v1"}\n')).toBe('export');
  expect(kind(signed(5))).toBe('checkpoint');
  expect(kind(formatAddCheckpoint(1n, [], signed(1)))).toBe('consistency');
  for (const text of ['', 'hello', 'c2sp.org/tlog-proof@v1\nindex 1\n', 'a\nb\nc\n'])
    expect(kind(text)).toBe('other');
  expect(reasonFor(new TextEncoder().encode('c2sp.org/tlog-proof@v1\nindex 1\n'))).toContain(
    'the proof of one entry',
  );
  expect(reasonFor(Uint8Array.of(0x1f, 0x8b, 8))).toContain('Unpack it');
  expect(reasonFor(new Uint8Array())).toContain('not a proof bundle');
});
