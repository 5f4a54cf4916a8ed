import { AssizeError } from 'assize/internal/base';

/**
 * - `bad_schedule`: a text that is no schedule; evidence `{text, at}`.
 * - `unknown_anomaly`: none that can be looked for; evidence `{anomaly}`.
 * - `bad_order`: an order of the members of a conflict set that is none; evidence `{order}`.
 * - `bad_random`: a source of chance that does not give as many bytes as were asked for; evidence `{asked, given}`.
 */
export type ExperimentErrorCode = 'bad_schedule' | 'unknown_anomaly' | 'bad_order' | 'bad_random';

/** Misuse of the experiments. */
export class ExperimentError extends AssizeError<ExperimentErrorCode> {
  override readonly name = 'ExperimentError';
}
