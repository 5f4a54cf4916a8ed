import { z } from 'zod';
import { sessionId } from '../name-forms.ts';
import type { GatewayState } from '../schema.ts';

export const sessionArgs: z.ZodObject<{
  session: z.ZodString;
  event: z.ZodEnum<{ start: 'start'; fail: 'fail'; end: 'end' }>;
  parent: z.ZodOptional<z.ZodString>;
  about: z.ZodOptional<z.ZodString>;
  project: z.ZodOptional<z.ZodString>;
}> = z.strictObject({
  session: sessionId,
  /** `fail`: its later calls only take back what it has done. */
  event: z.enum(['start', 'fail', 'end']),
  /** The session that started this one. */
  parent: sessionId.optional(),
  about: z.string().min(1).max(200).optional(),
  /** The folder of the project that it began in. */
  project: z.string().startsWith('/').max(4_096).optional(),
});

/** Records that a session of an agent starts, goes on, fails or ends. */
export function applySession(
  state: GatewayState,
  { session: id, event, parent, about, project }: z.infer<typeof sessionArgs>,
  { agent, at }: { readonly agent: string; readonly at: string },
): void {
  const row = state.sessions[id];
  if (row !== undefined && row.agent !== agent)
    throw new Error(`the session ${id} is that of another agent`);
  if (event !== 'start') {
    if (row === undefined) throw new Error(`there is no session ${id}`);
    if (event === 'fail') row.failed = true;
    else {
      row.endedAt = at;
      delete state.turns?.[id];
    }
    return;
  }
  if (row !== undefined) {
    delete row.endedAt;
    return;
  }
  if (parent !== undefined && state.sessions[parent]?.agent !== agent)
    throw new Error(`the agent has no session ${parent}`);
  state.sessions[id] = {
    agent,
    at,
    ...(parent === undefined ? {} : { parent }),
    ...(about === undefined ? {} : { about }),
    ...(project === undefined ? {} : { project }),
  };
}
