import { expect, test } from 'vitest';
import { areEqual, utf8 } from '../bytes/text.ts';
import { readKey } from './key.ts';
import { type Checkpoint, readCheckpoint } from './note.ts';
import { type ProofFile, readProof } from './proof-file.ts';
import { cosignedBy, isSignedBy } from './signatures.ts';
import { leafHash, rootFrom } from './tree.ts';

/** The example of the ledger's reference, section 12. */
const PROOF = `c2sp.org/tlog-proof@v1
index 1
ZdxfiImMwolKwN9fw5Y+F3Y7vXpQhsxEuwAdo7KqZkE=
NmksccwhZt6WrRxlAt9ajNI9mHnsAYNMihHPvhuyP1E=

log.example/ledger
3
60WUUYfZ9t45gBdbiPrfJfn4a7vvbJDXgbmlv4iON/o=

\u2014 log.example/ledger vVYY8HTF5ajy+S2iC0SZU3PFxOhG2AmqaTa/tSpM/k3YtLN3ILakTbV9Wh/rjGYZT++2r3JZZ6OIZe+OpvIw45KbcQQ=
\u2014 witness.example/w R9NM5AAAAABpwQEQU+Qy3k7MYwP+NIhfWOSb00UikHIXVRDZSH5c92GgylAQOlLIVxgftbB/kgxpA3Hg+OIHWMbaehq1T2zHy7M+AA==
`;
const LOG = 'log.example/ledger+bd5618f0+Ae1JKMYo0cLG6ukDOJBZlWEpWSc6XGP5NjbBRhSshzfR';
const WITNESS = 'witness.example/w+47d34ce4+BMqTrBcFGHBx1nuDx/8O/oEI6OxFMFdddyaHkzPb2r58';
const PAYLOAD =
  '{"action":{"args":{"$blob":"27e30ada7c508251518a509a66623c5123df07746e14be506d1ee4f5a70afcfa","bytes":24},"name":"spend","role":{"name":"spender","params":{"agent":"ann"}}},"at":"2026-03-23T09:00:01.000000Z","budget_cost":{"calls":1},"compiler_version":"assize-kernel/1","delta":{"beliefs":[],"effects":[],"state":[{"op":"add","path":"/spent/ann","value":5}]},"kind":"commit","observations":[],"parent":"3d272d7ecaf1efbe35b1c025f6c69eaba8d8a5d15856bf6a7c94a758eabf2144","parent_commit":"3d272d7ecaf1efbe35b1c025f6c69eaba8d8a5d15856bf6a7c94a758eabf2144","proposal_id":"70267b41efa253f7276c5e0079673440be1083a973a589226063a311ef2ab1f1","seq":1,"signature":{"key":"8139770ea87d175f56a35466c34c7ecccb8d8a91b4ee37a25df60f5b8fc9b394","value":"8f23307ada309c895f77028716f4e6fe38baa3286646d701236ebbb41fa2c406c2bffc35bac28e7852ad2b909d3c49b7d88d18c984c1b66bbf7fd6557dc66e0a"},"trajectory_id":"example","writ_id":"cd05878ee9c4120ffc856d9a5670cdcab819fbebb0d4730a96f55ff9639bd4b9"}';

const proof = readProof(PROOF) as ProofFile;
const checkpoint = readCheckpoint(proof.checkpoint) as Checkpoint;

test('the proof of the example leads to the root of its checkpoint', () => {
  const root = rootFrom(proof.index, checkpoint.size, leafHash(utf8(PAYLOAD)), proof.path);
  expect(root).toEqual(checkpoint.root);
});

test('a proof of another place, size, leaf or length leads elsewhere', () => {
  const leaf = leafHash(utf8(PAYLOAD));
  const leads = (index: bigint, size: bigint, data: Uint8Array, path: readonly Uint8Array[]) => {
    const root = rootFrom(index, size, data, path);
    return root !== undefined && areEqual(root, checkpoint.root);
  };
  expect(leads(1n, 3n, leaf, proof.path)).toBe(true);
  expect(leads(0n, 3n, leaf, proof.path)).toBe(false);
  expect(leads(2n, 3n, leaf, proof.path)).toBe(false);
  expect(leads(3n, 3n, leaf, proof.path)).toBe(false);
  expect(leads(1n, 2n, leaf, proof.path)).toBe(false);
  expect(leads(1n, 3n, leafHash(utf8(`${PAYLOAD} `)), proof.path)).toBe(false);
  expect(leads(1n, 3n, leaf, proof.path.slice(1))).toBe(false);
  expect(leads(1n, 3n, leaf, [...proof.path, leaf])).toBe(false);
  // A proof that is too short has no root at all.
  expect(rootFrom(1n, 3n, leaf, proof.path.slice(1))).toBeUndefined();
});

test('the log of the example signed its checkpoint, a witness cosigned it', () => {
  const log = readKey(LOG)!;
  const witness = readKey(WITNESS)!;
  expect(isSignedBy(checkpoint, log)).toBe(true);
  expect(isSignedBy(checkpoint, witness)).toBe(false);
  expect(cosignedBy(checkpoint, witness)).toMatchObject([
    { name: 'witness.example/w', at: 1774256400n },
  ]);
});

test('a checkpoint without a line of the log is not signed', () => {
  const lines = proof.checkpoint.split('\n').filter((line) => !line.startsWith('\u2014 log'));
  expect(isSignedBy(readCheckpoint(lines.join('\n')) as Checkpoint, readKey(LOG)!)).toBe(false);
});

test('a signature over another text does not hold', () => {
  const other = readCheckpoint(proof.checkpoint.replace('\n3\n', '\n4\n')) as Checkpoint;
  expect(isSignedBy(other, readKey(LOG)!)).toBe(false);
  expect(cosignedBy(other, readKey(WITNESS)!)).toBe(false);
});

test.each([
  ['no first line', PROOF.replace('tlog-proof@v1', 'tlog-proof@v2')],
  ['no index', PROOF.replace('index 1', 'index 01')],
  ['an extra line', PROOF.replace('index 1', 'extra AAAA\nindex 1')],
  ['a short hash', PROOF.replace('ZdxfiImMwolKwN9fw5Y+F3Y7vXpQhsxEuwAdo7KqZkE=', 'AAAA')],
  ['no empty line', PROOF.replaceAll('\n\n', '\n')],
])('a proof file with %s is of another form', (_what, text) => {
  expect(readProof(text)).toBeTypeOf('string');
});

test.each([
  ['a size with a zero before it', '\n3\n', '\n03\n'],
  ['no root', '60WUUYfZ9t45gBdbiPrfJfn4a7vvbJDXgbmlv4iON/o=', 'AAAA'],
  ['another spelling of its root', 'iON/o=', 'iON/p='],
  ['a control character', 'log.example/ledger\n3', 'log.example/ledger\t\n3'],
  ['no dash', '\n\u2014 log', '\n- log'],
])('a checkpoint with %s is of another form', (_what, from, to) => {
  expect(proof.checkpoint).toContain(from);
  expect(readCheckpoint(proof.checkpoint.replace(from, to))).toBeTypeOf('string');
});

test.each([
  ['a wrong id', LOG.replace('bd56', 'bd57')],
  ['another name', LOG.replace('log.example', 'log.examples')],
  ['a space in its name', LOG.replace('log.example', 'log example')],
  ['a part missing', LOG.replace('+bd5618f0', '')],
])('a key with %s is not a key', (_what, text) => {
  expect(readKey(text)).toBeUndefined();
});
