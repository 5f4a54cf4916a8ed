import { AgentError } from '../errors.ts';

/** The error of an option of a simulation that is not valid. */
export function badOption(what: string): AgentError {
  return new AgentError('bad_argument', `The simulation is not valid: ${what}.`);
}
