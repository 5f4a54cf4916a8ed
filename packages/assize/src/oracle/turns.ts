import { arg, checkArgument } from '#base';
import { oracleKey, type Question } from './question.ts';

/** The name under which the coordinator requests turns of a run of agents. */
export const COORDINATOR = 'assize.coordinator';

/** The question that a turn answers. */
export function turnQuestion(trajectory: string, turn: number): Question {
  return {
    scope: { kind: 'call', trajectory, branch: null, agent: COORDINATOR, ordinal: turn },
    request: { ask: 'turn' },
  };
}

/**
 * The key of a turn's question.
 *
 * @throws OracleError `bad_argument`
 */
export function turnKey(trajectory: string, turn: number): string {
  return oracleKey(turnQuestion(trajectory, turn));
}

/**
 * The name of the observation that links an entry to its turn.
 *
 * @throws ArgumentError `bad_argument`
 */
export function turnObservationName(number: number): string {
  checkArgument(arg.whole, number, 'number');
  return `turn ${number}`;
}

/**
 * The turn that an observation names, by name and by key. Undefined for any other observation.
 *
 * @throws OracleError `bad_argument`; ArgumentError `bad_argument`
 */
export function turnNamedBy(
  trajectory: string,
  observation: { readonly name: string; readonly oracle_key?: string },
): number | undefined {
  checkArgument(OBSERVATION, observation, 'observation');
  const { name, oracle_key: key } = observation;
  const number = Number(/^turn (\d{1,15})$/.exec(name)?.[1] ?? -1);
  const isTurn =
    number >= 0 && name === turnObservationName(number) && key === turnKey(trajectory, number);
  return isTurn ? number : undefined;
}

const OBSERVATION = arg.members({ name: arg.text });
