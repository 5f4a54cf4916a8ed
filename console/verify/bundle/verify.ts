import type { NoteKey } from '../log/key.ts';
import type { Checkpoint } from '../log/note.ts';
import { type Cosigned, cosignedBy } from '../log/signatures.ts';
import { checkChains } from '../rules/check-chains.ts';
import { checkCheckpoint, checkCosignatures, checkProofs } from './check-log.ts';
import { checkScope } from './check-scope.ts';
import { checkWrits } from './check-writs.ts';
import { checkContext } from './context.ts';
import { type Files, textIn } from './files.ts';
import { Findings, Unreadable } from './findings.ts';
import { checkKeys, type Keys, readKeys } from './keys.ts';
import type { LedgerPart } from './ledger-part.ts';
import { readLines } from './lines.ts';
import { checkFiles, type Manifest, readManifest } from './manifest.ts';
import { type Pause, pausing } from './pause.ts';
import { checkRecords } from './records.ts';

/** Keys that a reader has from a place that the sender of a bundle does not control. */
export interface GivenKeys {
  readonly log?: NoteKey;
  readonly witnesses?: readonly NoteKey[];
}

/** The content of a bundle that could be read. */
export interface Content {
  readonly manifest: Manifest;
  readonly part: LedgerPart;
  readonly keys: Keys;
  readonly checkpoint: Checkpoint;
  readonly witnesses: readonly Cosigned[];
}

/** The result of a verification. Without a fault, the bundle is valid. */
export interface Report {
  readonly findings: Findings;
  /** Undefined if a file could not be read. */
  readonly content: Content | undefined;
}

/**
 * Verifies a bundle: everything that docs/reference/proof-bundle.md says. Never throws for one.
 *
 * @param onProgress receives the findings so far
 */
export async function verify(
  files: Files,
  given: GivenKeys = {},
  onProgress: (findings: Findings) => void = () => undefined,
): Promise<Report> {
  const findings = new Findings();
  try {
    const pause = pausing(() => onProgress(findings));
    return { findings, content: await checkAll(files, given, findings, pause) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    findings.faults.push(error.fault);
    return { findings, content: undefined };
  }
}

async function checkAll(
  files: Files,
  given: GivenKeys,
  findings: Findings,
  pause: Pause,
): Promise<Content> {
  const manifest = readManifest(files);
  checkFiles(files, manifest, findings);
  const keys = readKeys(files);
  const checkpoint = checkCheckpoint(files, keys, findings);
  const witnesses = checkCosignatures(checkpoint, keys, findings);
  checkGiven(given, keys, checkpoint, findings);
  const part = readLines(textIn(files, 'entries.jsonl'), findings);
  if (part.entries.length !== manifest.entries)
    findings.fault(
      'bad_manifest',
      `The manifest counts ${manifest.entries} entries, and there are ${part.entries.length}.`,
    );
  checkOrder(part, findings);
  await checkProofs(files, part, checkpoint, findings, pause);
  checkContext(part, findings);
  await checkChains(part, findings, pause);
  const issuers = await checkWrits(part, findings, pause);
  checkKeys(keys, part, issuers, findings);
  checkScope(part, manifest, findings);
  checkRecords(files, part, checkpoint, witnesses, findings);
  return { manifest, part, keys, checkpoint, witnesses };
}

/** Compares the keys of the bundle with those that the reader has. */
export function checkGiven(
  given: GivenKeys,
  keys: Keys,
  checkpoint: Checkpoint,
  findings: Findings,
): void {
  if (given.log !== undefined && given.log.text !== keys.log.text)
    findings.fault('other_key', 'The bundle is of another log than the key that you gave.');
  for (const key of given.witnesses ?? []) {
    const found = cosignedBy(checkpoint, key);
    if (found === false || found.length === 0)
      findings.fault('not_witnessed', `The witness ${key.name} did not cosign the checkpoint.`);
  }
}

/** Entries stand by their place in the log, and none stands twice. */
function checkOrder({ entries, byId }: LedgerPart, findings: Findings): void {
  for (const [n, { id, index }] of entries.entries())
    if (n > 0 && index <= (entries[n - 1]?.index ?? -1))
      findings.fault('bad_entry', 'It does not stand in the order of the log.', id);
  if (byId.size < entries.length) findings.fault('bad_entry', 'An entry stands twice.');
}
