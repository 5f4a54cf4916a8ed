import { useEffect, useRef, useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { isRetryable } from '../../api/problem.ts';

export type VerifyReport = components['schemas']['VerifyReport'];

/** One trajectory of a verification. Both absent: it was not asked yet. */
export interface Verified {
  readonly report?: VerifyReport;
  readonly error?: unknown;
}

export interface Verification {
  /** By trajectory, in the order of the requests. */
  readonly verified: ReadonlyMap<string, Verified>;
  /** The trajectory that is verified now. */
  readonly running: string | undefined;
  readonly start: (trajectories: readonly string[]) => void;
  readonly stop: () => void;
}

/** Verifies trajectories, one a request, so that each answer shows as soon as it is there. */
export function useVerification(): Verification {
  const [verified, setVerified] = useState<ReadonlyMap<string, Verified>>(new Map());
  const [running, setRunning] = useState<string>();
  const ending = useRef(new AbortController());
  useEffect(() => () => ending.current.abort(), []);

  const start = async (trajectories: readonly string[]): Promise<void> => {
    ending.current = new AbortController();
    const { signal } = ending.current;
    setVerified(new Map(trajectories.map((id) => [id, {}])));
    for (const id of trajectories) {
      setRunning(id);
      const answer = await verifyOne(id, signal);
      if (signal.aborted) return;
      setVerified((before) => new Map(before).set(id, answer));
    }
    setRunning(undefined);
  };
  const stop = (): void => {
    ending.current.abort();
    setRunning(undefined);
  };
  return { verified, running, start: (trajectories) => void start(trajectories), stop };
}

/** Requests of one trajectory, and the time between two, for a server that is busy or away. */
const ATTEMPTS = 5;
const AGAIN_MS = 1_000;

async function verifyOne(id: string, signal: AbortSignal, attempt = 1): Promise<Verified> {
  try {
    const { reports } = await dataOf(
      api.POST('/v1/verify', { body: { trajectories: [id] }, signal }),
    );
    const report = reports.find((one) => one.trajectory_id === id);
    return report === undefined ? { error: new Error('The answer has no report.') } : { report };
  } catch (error) {
    if (signal.aborted || attempt === ATTEMPTS || !isRetryable(error)) return { error };
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    return verifyOne(id, signal, attempt + 1);
  }
}
