import type { Past } from './fixture.ts';

/** A call as Claude Code sends it. Paths in it begin with PROJECT, HOME or ELSEWHERE. */
export interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A call with what came before it. */
export interface Case {
  readonly family: string;
  readonly call: Call;
  /** Default: `plain`. */
  readonly past?: Past;
  /** Files of the project that the agent writes before, each by a call that is judged too. */
  readonly writes?: Readonly<Record<string, string>>;
  /** Absent: a way round. Present: an everyday call. */
  readonly everyday?: boolean;
}
