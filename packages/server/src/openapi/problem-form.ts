import { findingForm } from '@assize/command/operation';
import { z } from 'zod';

/** The document of an error, RFC 9457. */
export const problemForm = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string().describe('stable; programs branch on it'),
    detail: z.string(),
    retryable: z.boolean(),
    findings: z.array(findingForm).optional(),
    detection_vector: z
      .array(z.looseObject({ invariant_id: z.string(), result: z.string(), detail: z.string().optional() }))
      .optional()
      .describe('of an approval that breaks rules: the result of each rule'),
    request_id: z.string().optional(),
  })
  .meta({ id: 'Problem' });
