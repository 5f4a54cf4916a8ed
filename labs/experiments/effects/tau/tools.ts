import {
  DidNothing,
  declareTool,
  type PlannedCalls,
  type Tool,
  type ToolSpec,
} from 'assize/internal/effects';
import type { Args, Desk, DeskTool } from './desk.ts';
import type { Served, TauService } from './service.ts';

/**
 * The prefix of the scopes and tool names of a desk: `api:airline:users:mia_li_3668`,
 * `airline.book_reservation`.
 */
const scopesOf =
  ({ name }: Desk, scopes: (args: Args) => readonly string[]) =>
  (args: Args): string[] =>
    scopes(args).map((scope) => `api:${name}:${scope}`);

/** The calls of a service, as tools. */
export function tauTools(desk: Desk, service: TauService): Tool[] {
  return Object.entries(desk.tools).map(([name, tool]) => {
    const { input, reads, writes } = tool;
    return declareTool({
      name: `${desk.name}.${name}`,
      input,
      ...(reads === undefined ? {} : { reads: scopesOf(desk, reads) }),
      ...(writes === undefined ? {} : { writes: scopesOf(desk, writes) }),
      ...PARTS[tool.sort](name, service, desk),
    });
  });
}

type Parts = Pick<ToolSpec, 'class' | 'execute' | 'compensate' | 'plan'>;

const PARTS: Readonly<
  Record<DeskTool['sort'], (name: string, service: TauService, desk: Desk) => Parts>
> = {
  look: (name, service, desk) => ({
    class: 'read',
    execute: (args, _, planned) => service.ask(name, args as never, ownOf(desk, planned)),
  }),
  /** Acts immediately, and is taken back by the name of the change in its answer. */
  free: (name, service) => ({
    class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
    execute: (args, { key }) => service.call(name, args as never, key),
    compensate: (_args, { change }: Served) => {
      if (change !== null && !service.revert(change))
        throw new DidNothing(`what ${change} did does not stand as it was left`, { final: true });
      return { undone: 'all' };
    },
  }),
  /** Buffered until commit. The caller receives the answer that the call will return then. */
  final: (name, service, desk) => ({
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
    plan: (args, planned) => service.ask(name, args as never, ownOf(desk, planned)),
    execute: (args, { key }) => service.call(name, args as never, key).output,
  }),
};

/** The planned calls of this desk, by the desk's own tool names. */
function ownOf({ name }: Desk, planned: PlannedCalls): PlannedCalls {
  const own = planned.filter(({ tool }) => tool.startsWith(`${name}.`));
  return own.map(({ tool, input }) => ({ tool: tool.slice(name.length + 1), input }));
}
