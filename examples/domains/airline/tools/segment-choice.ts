import { z } from 'zod';
import type { SegmentChoice } from './offer.ts';

/**
 * A segment as the agent names it. Agents copy segments out of a reservation, with the fields that
 * the tool writes itself. The tool accepts and ignores these fields, as the benchmark does.
 */
export const segmentChoice: z.ZodType<SegmentChoice> = z.object({
  flight_number: z.string(),
  date: z.string(),
  origin: z.string().optional(),
  destination: z.string().optional(),
  price: z.number().optional(),
});
