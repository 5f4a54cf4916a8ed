import { Findings } from '../bundle/findings.ts';
import type { Pause } from '../bundle/pause.ts';
import type { GivenKeys } from '../bundle/verify.ts';
import type { Leaves } from '../log/leaves.ts';
import { type Checkpoint, readCheckpoint } from '../log/note.ts';
import { checkEarlier, checkSigned, checkTree } from './check-signed.ts';
import { type ConsistencyProof, readConsistency } from './consistency-proof.ts';

/** The texts that a reader has about a log. An empty one is absent. */
export interface GivenTexts {
  readonly checkpoint: string;
  readonly earlier: string;
  readonly proof: string;
}

export interface LogReport {
  readonly findings: Findings;
  readonly checkpoint: Checkpoint | undefined;
  readonly earlier: Checkpoint | undefined;
  readonly proof: ConsistencyProof | undefined;
}

/**
 * Checks the checkpoints of a log by the keys of the reader, against each other, and against the
 * leaves of an export if there is one. Never throws for a text.
 */
export async function checkLog(
  texts: GivenTexts,
  keys: GivenKeys,
  leaves: Leaves | undefined,
  pause: Pause = () => undefined,
): Promise<LogReport> {
  const findings = new Findings();
  const checkpoint = read(texts.checkpoint, 'checkpoint', readCheckpoint, findings);
  const earlier = read(texts.earlier, 'earlier checkpoint', readCheckpoint, findings);
  const proof = read(texts.proof, 'proof of consistency', readConsistency, findings);
  if (checkpoint !== undefined) {
    checkSigned(checkpoint, keys, findings);
    if (earlier !== undefined) checkEarlier(earlier, checkpoint, proof, keys, findings);
    if (leaves !== undefined) await checkTree(leaves, checkpoint, '', findings, pause);
  } else if (earlier !== undefined || proof !== undefined)
    findings.fault(
      'bad_checkpoint',
      'There is an earlier checkpoint or a proof, and no later checkpoint.',
    );
  if (earlier !== undefined && leaves !== undefined)
    await checkTree(leaves, earlier, 'earlier ', findings, pause);
  return { findings, checkpoint, earlier, proof };
}

function read<T extends object>(
  text: string,
  name: string,
  parse: (text: string) => T | string,
  findings: Findings,
): T | undefined {
  if (text.trim() === '') return undefined;
  const value = parse(text.endsWith('\n') ? text : `${text}\n`);
  if (typeof value !== 'string') return value;
  findings.fault('bad_checkpoint', `The ${name} ${value}.`);
  return undefined;
}
