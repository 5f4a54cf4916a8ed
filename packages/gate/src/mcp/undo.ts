import type { CallToolResult } from '@modelcontextprotocol/client';
import { isAssizeError } from 'assize/internal/base';
import { gatedCall } from './call-flow.ts';
import type { Gateway } from './gateway.ts';
import { loadServer } from './peers.ts';
import { toolCall } from './tool-call.ts';
import type { Talker } from './upstream/upstream.ts';

/**
 * Takes a done call back by the tool that the rules name. The undoing is judged like any call, made
 * once, and linked with the call in the ledger. Returns whether the call is taken back, and a text.
 *
 * @throws McpError `server_refused`, `unreachable`
 */
export async function undoCall(
  gateway: Gateway,
  {
    call,
    server,
    signal,
  }: { readonly call: string; readonly server: string; readonly signal: AbortSignal },
): Promise<{ readonly isUndone: boolean; readonly text: string }> {
  const sdk = await loadServer();
  const { server: on, tool: name, args } = await gateway.desk.undoing(call);
  if (on !== server)
    return notUndone(`it is undone by ${on}/${name}, so pass --name ${on} and its command`);
  const tool = await gateway.tool(name);
  if (tool === undefined)
    return notUndone(
      `the rules deny the tool ${name}, its definition waits for approval, or the server does not have it`,
    );
  const fault = await gateway.upstream.faultOf(tool, args);
  if (fault !== undefined) return notUndone(fault);
  const end = await gatedCall<CallToolResult>(
    gateway,
    {
      ...toolCall({ name, arguments: args }, tool, {
        gateway,
        sdk,
        sending: { signal },
        talker: NOBODY,
      }),
      ...{ args, undoes: call, idempotent: false },
    },
    { signal, elicits: false },
  );
  await gateway.settled();
  if (end.end === 'made')
    return end.result.isError === true
      ? notUndone(`${name} answered with an error`)
      : { isUndone: true, text: `The call ${call} is undone by ${end.call}.` };
  return notUndone('text' in end ? end.text : `${name} answered with an error`);
}

/**
 * Takes back the calls of the run of a gateway, the newest first, and ends it. Returns whether none
 * stays, and a line for each call.
 *
 * @throws McpError `server_refused`, `unreachable`
 */
export async function undoRun(
  gateway: Gateway,
  given: { readonly server: string; readonly signal: AbortSignal },
): Promise<{ readonly isUndone: boolean; readonly text: string }> {
  const lines: string[] = [];
  let isUndone = true;
  for (const call of await gateway.desk.failRun()) {
    const end = await undoCall(gateway, { call, ...given }).catch((error: unknown) => {
      if (isAssizeError(error, 'server_refused')) return notUndone(error.message);
      throw error;
    });
    isUndone &&= end.isUndone;
    lines.push(end.isUndone ? end.text : `${call}: ${end.text}`);
  }
  await gateway.desk.endRun();
  return { isUndone, text: lines.join('\n') };
}

/** No client takes part in an undoing. */
const NOBODY: Omit<Talker, 'user'> = {
  asked: () => Promise.reject(new Error('no client takes part in an undoing')),
  log: () => undefined,
};

function notUndone(why: string): { readonly isUndone: false; readonly text: string } {
  return { isUndone: false, text: `Not undone: ${why}` };
}
