import type { Json } from 'assize/internal/base';
import { misfitsOf } from 'assize/internal/canon';
import type { z } from 'zod';
import { ModelError } from './errors.ts';

/**
 * The answer in the form of the protocol.
 * @throws ModelError `bad_answer`
 */
export function inForm<T>(form: z.ZodType<T>, answer: Json, protocol: string): T {
  const read = form.safeParse(answer);
  if (read.success) return read.data;
  const [misfit] = misfitsOf(read.error);
  throw new ModelError(
    'bad_answer',
    `The answer is not of the protocol ${protocol}: ${misfit?.pointer || 'the answer'}: ${misfit?.message}. Check the base URL.`,
    { evidence: { pointer: misfit?.pointer ?? '' } },
  );
}
