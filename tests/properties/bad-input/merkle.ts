import * as merkle from '#merkle';
import {
  entries,
  LOG,
  logOf,
  ORIGIN,
  seed,
  signedNote,
  WITNESSES,
} from '../../support/ledger/merkle-fixtures.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, takes } from './table.ts';

const texts = entries(5);
const { frontier, read } = logOf(texts);
const root = frontier.root();
const older = logOf(texts.slice(0, 3)).frontier.root();
const text = merkle.formatCheckpoint({ origin: ORIGIN, size: 5, root });
const plain = ({ name, use, id, publicKey }: merkle.VerifierKey): merkle.VerifierKey => ({
  name,
  use,
  id,
  publicKey,
});
const [w0, w1] = WITNESSES as [merkle.SignerKey, merkle.SignerKey];
const signed = signedNote(text, [w0]);
const known = { origin: ORIGIN, keys: [plain(LOG)] };
const { publicKey } = LOG;
const proof = merkle.inclusionProof(1, 5, read);
const growth = merkle.consistencyProof(3, 5, read);
const hash = merkle.leafHash('a');
const cosignature = merkle.cosign(text, w1, 1_700_000_000);
const lines = merkle.formatSignatures([cosignature]);
const file = merkle.formatProofFile({ index: 1, proof, signed });
const body = merkle.formatAddCheckpoint(3, growth, signed);
const verdict = merkle.openCheckpoint(signed, known, [plain(w0)]);
const nothing = 'no arguments';

export const MERKLE: Readonly<Record<string, Case | Exempt>> = {
  'new Frontier': takes((state) => new merkle.Frontier(state), [{ ...frontier.state() }]),
  'Frontier.append': takes((hashes) => new merkle.Frontier().append(hashes), [[hash]]),
  'Frontier.root': exempt(nothing),
  'Frontier.state': exempt(nothing),
  'Frontier.size': exempt(nothing),
  addCosignatures: takes(merkle.addCosignatures, [signed, lines, [plain(w1)]]),
  consistencyProof: takes(merkle.consistencyProof, [3, 5, read]),
  cosign: takes(merkle.cosign, [text, { ...w0 }, 1_700_000_000]),
  cosignedAt: takes(merkle.cosignedAt, [text, { ...cosignature }, plain(w1)]),
  decideCheckpoint: takes(merkle.decideCheckpoint, [
    body,
    { log: () => known, recorded: () => ({ size: 3, root: older }) },
  ]),
  emptyRoot: exempt(nothing),
  formatAddCheckpoint: takes(merkle.formatAddCheckpoint, [3, growth, signed]),
  formatCheckpoint: takes(merkle.formatCheckpoint, [
    { origin: ORIGIN, size: 5, root, extensions: ['x'] },
  ]),
  formatNote: takes(merkle.formatNote, [{ text, signatures: [cosignature] }]),
  formatProofFile: takes(merkle.formatProofFile, [
    { index: 1, proof, signed, extra: new Uint8Array(2) },
  ]),
  formatSignatures: takes(merkle.formatSignatures, [[cosignature]]),
  formatSignerKey: takes(merkle.formatSignerKey, [{ ...LOG }]),
  formatVerifierKey: takes(merkle.formatVerifierKey, [plain(LOG)]),
  frontierAt: takes(merkle.frontierAt, [5, read]),
  inclusionProof: takes(merkle.inclusionProof, [1, 5, read]),
  leafHash: takes(merkle.leafHash, ['leaf']),
  nodeHash: takes(merkle.nodeHash, [hash, hash]),
  openCheckpoint: takes(merkle.openCheckpoint, [signed, known, [plain(w0)]]),
  openNote: takes(merkle.openNote, [signed, [plain(LOG)]]),
  parseAddCheckpoint: takes(merkle.parseAddCheckpoint, [body]),
  parseCheckpoint: takes(merkle.parseCheckpoint, [text]),
  parseNote: takes(merkle.parseNote, [signed]),
  parseProofFile: takes(merkle.parseProofFile, [file]),
  parseRecordedSize: takes(merkle.parseRecordedSize, ['5\n']),
  parseSignatures: takes(merkle.parseSignatures, [lines]),
  parseSignerKey: takes(merkle.parseSignerKey, [merkle.formatSignerKey(LOG)]),
  parseVerifierKey: takes(merkle.parseVerifierKey, [merkle.formatVerifierKey(LOG)]),
  rootAt: takes(merkle.rootAt, [5, read]),
  signCheckpoint: takes(merkle.signCheckpoint, [{ size: 5, root }, { ...LOG }]),
  signNote: takes(merkle.signNote, [text, { ...LOG }]),
  signerKey: takes(merkle.signerKey, [ORIGIN, 'note', seed(1)]),
  verifierKey: takes(merkle.verifierKey, [ORIGIN, 'note', publicKey]),
  verifyConsistency: takes(merkle.verifyConsistency, [
    { size: 3, root: older },
    { size: 5, root },
    growth,
  ]),
  verifyInclusion: takes(merkle.verifyInclusion, [
    { index: 1, size: 5, leafHash: merkle.leafHash(texts[1] as string), root },
    proof,
  ]),
  verifyProofFile: takes(merkle.verifyProofFile, [
    file,
    texts[1],
    { log: known, witnesses: [plain(w0)], quorum: 1 },
  ]),
  witnessCount: takes(merkle.witnessCount, [
    verdict.valid ? verdict.cosignatures.map((one) => ({ ...one })) : [],
  ]),
};
