import { arg, checkArgument } from 'assize/internal/base';
import {
  addCosignatures,
  formatAddCheckpoint,
  openNote,
  parseRecordedSize,
  type VerifierKey,
} from 'assize/internal/merkle';
import { RuntimeError } from 'assize/internal/runtime';
import type { Witness } from './checkpoint.ts';

export interface HttpWitnessOptions {
  /** Submission prefix: requests go to `add-checkpoint` below it. */
  readonly url: string;
  /** The witness's verifier key. From configuration, never from the witness. */
  readonly key: VerifierKey;
  /** Default 10 s. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof globalThis.fetch;
}

/** Answers have a few lines. */
const ANSWER_BYTES_MAX = 100_000;

const HTTP_WITNESS_OPTIONS = arg.options<HttpWitnessOptions>({
  url: arg.text,
  key: arg.members({ name: arg.text, use: arg.text, id: arg.text, publicKey: arg.text }),
  timeoutMs: arg.optional(arg.whole),
  fetch: arg.optional(arg.code),
});

/**
 * A witness over HTTP (c2sp.org/tlog-witness). The first request assumes the size that the witness
 * knows. If the witness answers with another size, the request is repeated with that.
 *
 * @throws RuntimeError `bad_argument` for an invalid URL; ArgumentError `bad_argument`
 */
export function httpWitness(options: HttpWitnessOptions): Witness {
  checkArgument(HTTP_WITNESS_OPTIONS, options, 'options');
  const { url, key, timeoutMs = 10_000, fetch = globalThis.fetch } = options;
  const parsed = URL.parse('add-checkpoint', url.endsWith('/') ? url : `${url}/`);
  if (parsed === null)
    throw new RuntimeError(
      'bad_argument',
      'The `url` of the witness is not valid. Pass an absolute URL.',
    );
  const address = parsed;
  let known = 0;

  async function ask(body: string): Promise<{ status: number; text: string }> {
    try {
      const answer = await fetch(address, {
        method: 'POST',
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: answer.status, text: await readSome(answer) };
    } catch (cause) {
      throw failed(key, `the request failed (${(cause as Error).message})`, cause);
    }
  }

  return {
    key,
    cosign: async (signed, size, proofFrom) => {
      // Twice: with the last known size, and with the size from the answer.
      for (let tries = 0; tries < 2; tries++) {
        const { status, text } = await ask(
          formatAddCheckpoint(known, known === 0 ? [] : await proofFrom(known), signed),
        );
        if (status === 200) {
          const cosigned = addCosignatures(signed, text, [key]);
          if (!openNote(cosigned, [key]).valid)
            throw failed(key, 'its answer has no valid cosignature');
          return cosigned;
        }
        const recorded = status === 409 ? parseRecordedSize(text) : undefined;
        if (recorded === undefined)
          throw failed(key, `it answered ${status}: ${text.trim().slice(0, 200)}`);
        if (recorded > BigInt(size)) {
          const what = `it has cosigned ${recorded} entries of this log, and the log has ${size}: entries are missing`;
          throw failed(key, what, undefined, Number(recorded));
        }
        known = Number(recorded);
      }
      throw failed(key, 'it reported another size of the log twice');
    },
  };
}

async function readSome(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) throw new Error('its answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function failed(key: VerifierKey, what: string, cause?: unknown, recorded?: number): RuntimeError {
  return new RuntimeError('witness_failed', `The witness ${key.name} did not cosign: ${what}.`, {
    evidence: { witness: key.name, ...(recorded !== undefined && { recorded }) },
    cause,
    retryable: true,
  });
}
