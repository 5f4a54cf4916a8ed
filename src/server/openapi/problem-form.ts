import { z } from 'zod';
import { findingForm } from '../operations/forms.ts';

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
    request_id: z.string().optional(),
  })
  .meta({ id: 'Problem' });
