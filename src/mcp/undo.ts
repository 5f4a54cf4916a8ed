import type { CallToolResult, Tool } from '@modelcontextprotocol/client';
import { gatedCall } from './call-flow.ts';
import type { Gateway } from './gateway.ts';
import { passed } from './gateway-server.ts';
import { loadServer } from './peers.ts';
import { isRefusal } from './upstream/refusal.ts';
import type { Talker } from './upstream/upstream.ts';

/**
 * Takes a done call back by the tool that the rules name. The undoing is judged like any call, made
 * once, and linked with the call in the ledger. Returns whether the call is taken back, and a text.
 *
 * @throws McpError `desk_refused`, `upstream_unreachable`
 */
export async function undoCall(
  gateway: Gateway,
  { call, server, signal }: { readonly call: string; readonly server: string; readonly signal: AbortSignal },
): Promise<{ readonly isUndone: boolean; readonly text: string }> {
  const sdk = await loadServer();
  const { server: on, tool: name, args } = await gateway.desk.undoing(call);
  if (on !== server) return notUndone(`it is undone by ${on}/${name}, so pass --name ${on} and its command`);
  const tool = await gateway.tool(name);
  if (tool === undefined) return notUndone(`there is no tool ${name}, or its definition waits for approval`);
  const fault = await gateway.argumentCheck.faultOf(tool, args);
  if (fault !== undefined) return notUndone(`the arguments of ${name} are not valid: ${fault}`);
  const end = await gatedCall<CallToolResult>(
    gateway,
    {
      ...{ tool: name, args, definition: tool.hash, undoes: call, idempotent: false },
      make: async () => {
        const { outputSchema: _, ...toolDefinition } = tool.tool;
        const sent = { timeout: gateway.limits.callMs, signal, toolDefinition: toolDefinition as Tool };
        return passed(await gateway.upstream.callTool({ name, arguments: args }, sent, NOBODY));
      },
      isFailure: ({ isError }) => isError === true,
      isRefusal: (error) => isRefusal(sdk, error),
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

/** No client takes part in an undoing. */
const NOBODY: Talker = {
  asked: () => Promise.reject(new Error('no client takes part in an undoing')),
  log: () => undefined,
};

function notUndone(why: string): { readonly isUndone: false; readonly text: string } {
  return { isUndone: false, text: `Not undone: ${why}` };
}
