import { Findings, Unreadable } from '../bundle/findings.ts';
import { pausing } from '../bundle/pause.ts';
import type { Leaves } from '../log/leaves.ts';
import { ExportReading } from './read-export.ts';
import { splitLines } from './split-lines.ts';

/** An export that was read to its end. */
export interface ExportContent {
  readonly leaves: Leaves;
  readonly trajectories: number;
}

export interface ExportReport {
  readonly findings: Findings;
  /** Undefined for an export whose end was not read. */
  readonly content: ExportContent | undefined;
}

/** The work so far. */
export interface Progress {
  readonly bytes: number;
  readonly entries: number;
}

/** With more faults the rest is not read. */
const FAULTS_MAX = 1_000;

/**
 * Verifies an export as it comes, and never holds it as a whole. Never throws for one.
 *
 * @param pieces the bytes of the file, in any parts
 * @param onProgress is called about thirty times a second
 */
export async function verifyExport(
  pieces: AsyncIterable<Uint8Array>,
  onProgress: (progress: Progress) => void = () => undefined,
): Promise<ExportReport> {
  const findings = new Findings();
  const reading = new ExportReading(findings);
  let bytes = 0;
  const pause = pausing(() => onProgress({ bytes, entries: reading.leaves.size }));
  const counting = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      bytes += piece.length;
      yield piece;
    }
  };
  try {
    for await (const line of splitLines(counting())) {
      await pause();
      reading.read(line);
      if (findings.faults.length > FAULTS_MAX)
        throw new Unreadable(
          'bad_export',
          `There are more than ${FAULTS_MAX} faults. The rest was not read.`,
        );
    }
    reading.end();
    return { findings, content: { leaves: reading.leaves, trajectories: reading.trajectories } };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    findings.faults.push(error.fault);
    return { findings, content: undefined };
  }
}
