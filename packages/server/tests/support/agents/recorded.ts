import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'vitest';
import { startWithRules } from '../../../../../tests/support/agents/ruling.ts';

/** The recorded input of one hook. */
export interface Recorded {
  readonly name: string;
  readonly input: { readonly hook_event_name: string; readonly [member: string]: unknown };
}

/** How the recorded events of an agent program are sent and read. */
export interface RecordedProgram {
  /** The folder of the program in tests/support. */
  readonly program: string;
  /** The order of the events in a run. */
  readonly order: readonly string[];
  /** The events that ask for a permission. */
  readonly questions: readonly string[];
  /** The permission in an answer, as the program reads it. `undefined`: no opinion. */
  readonly permissionIn: (event: string, answer: any) => string | undefined;
  /** The session of its own that a recorded event belongs to. */
  readonly subjectOf: (name: string) => string;
}

export interface Played {
  /** By the name of each recorded question. `undefined`: no opinion. */
  readonly permissions: Readonly<Record<string, string | undefined>>;
  /** By the id of the call. */
  readonly outcomes: Readonly<Record<string, string>>;
}

/** The recorded events of a program, in the order of a run. */
export function recordedOf({
  program,
  order,
}: Pick<RecordedProgram, 'program' | 'order'>): readonly Recorded[] {
  const folder = join(import.meta.dirname, '../../../../../tests/support', program, 'recorded');
  const placeOf = ({ input }: Recorded): number => order.indexOf(input.hook_event_name);
  return globSync(join(folder, '*.json'))
    .map(
      (path): Recorded => ({
        name: basename(path, '.json'),
        input: JSON.parse(readFileSync(path, 'utf8')),
      }),
    )
    .sort((a, b) => placeOf(a) - placeOf(b) || (a.name < b.name ? -1 : 1));
}

/**
 * Sends all events to a server with these rules. The identifiers of the runs are the same in all
 * files, so the events with the same subject, such as `write-create`, are a session of their own.
 */
export async function played(recorded: RecordedProgram, text: string): Promise<Played> {
  const server = await startWithRules(text);
  const token = await server.tokenFor('agent:coder');
  const path = `/v1/trajectories/calls/hooks/${recorded.program}?wait=0`;
  const permissions: Record<string, string | undefined> = {};
  for (const { name, input } of recordedOf(recorded)) {
    const body = { ...input, session_id: recorded.subjectOf(name) };
    const answered = await server.ask('POST', path, { token, body });
    expect({ name, status: answered.status }).toEqual({ name, status: 200 });
    const event = input.hook_event_name;
    if (recorded.questions.includes(event))
      permissions[name] = recorded.permissionIn(event, answered.body);
    else expect({ name, body: answered.body }).toEqual({ name, body: {} });
  }
  const auditor = await server.tokenFor('admin:ann');
  const { state } = (await server.ask('GET', '/v1/trajectories/calls/state', { token: auditor }))
    .body;
  const rows = Object.entries<any>(state.calls);
  return {
    permissions,
    outcomes: Object.fromEntries(rows.map(([id, { outcome = 'open' }]) => [id, outcome])),
  };
}

/** The names of the questions with one of these answers. */
export function answeredBy(
  { permissions }: Played,
  ...wanted: readonly (string | undefined)[]
): string[] {
  return Object.keys(permissions).filter((name) => wanted.includes(permissions[name]));
}
