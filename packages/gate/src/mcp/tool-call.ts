import type { CallToolResult, Progress, Tool } from '@modelcontextprotocol/server';
import type { GatedCall } from './call-flow.ts';
import type { Gateway } from './gateway.ts';
import type { loadServer } from './peers.ts';
import { passed } from './results.ts';
import type { Definition } from './upstream/definitions.ts';
import { isRefusal } from './upstream/refusal.ts';
import type { Talker, ToolCall } from './upstream/upstream.ts';

interface Calling {
  readonly gateway: Gateway;
  readonly sdk: Awaited<ReturnType<typeof loadServer>>;
  readonly sending: {
    readonly signal: AbortSignal;
    readonly onprogress?: (progress: Progress) => void;
  };
  /** The client of the call. */
  readonly talker: Omit<Talker, 'user'>;
}

/** How a gated call of a tool is made with its pinned definition, and how its end is read. */
export function toolCall(
  call: ToolCall,
  { tool, hash }: Definition,
  { gateway, sdk, sending, talker }: Calling,
): Pick<GatedCall<CallToolResult>, 'tool' | 'definition' | 'make' | 'isFailure' | 'isRefusal'> {
  return {
    tool: call.name,
    definition: hash,
    make: async () => {
      // With the definition, the client neither validates the result nor sends a call twice.
      const { outputSchema: _, ...toolDefinition } = tool;
      const sent = {
        timeout: gateway.limits.callMs,
        ...sending,
        toolDefinition: toolDefinition as Tool,
      };
      return passed(await gateway.upstream.callTool(call, sent, { ...talker, user: gateway }));
    },
    isFailure: ({ isError }) => isError === true,
    isRefusal: (error) => isRefusal(sdk, error),
  };
}
