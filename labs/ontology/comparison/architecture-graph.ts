import type { DerivedInvariant } from '../invariants.ts';
import type { Ontology } from '../ontology.ts';
import type { DerivedRole } from '../roles.ts';
import { type Graph, GraphBuilder } from './graph.ts';

/** The parts that an architecture is derived from. */
export interface DerivedArchitecture {
  readonly ontology: Ontology;
  readonly roles: readonly DerivedRole[];
  readonly invariants: readonly DerivedInvariant[];
}

/** The noun of each kind of node, for one and for several. The order is that of an explanation. */
export const NOUNS: Readonly<Record<string, readonly [one: string, several: string]>> = {
  agent: ['proposing agent', 'proposing agents'],
  'meta-agent': ['meta-agent', 'meta-agents'],
  ledger: ['ledger', 'ledgers'],
  queue: ['counselor queue', 'counselor queues'],
  role: ['role', 'roles'],
  process: ['process', 'processes'],
  component: ['component', 'components'],
  rule: ['rule', 'rules'],
  channel: ['channel', 'channels'],
};

/**
 * The diagram of the derived architecture (seed 000, figures 5 and 8): the agents propose to the
 * meta-agent and get slices, the meta-agent records in the ledger, and a queue has a channel for
 * each kind of counselor that a rule escalates to.
 */
export function diagramGraph({ roles, invariants }: DerivedArchitecture): Graph {
  const graph = new GraphBuilder();
  const meta = graph.node('meta-agent', 'meta-agent');
  const ledger = graph.node('ledger', 'ledger');
  graph.edge('records', meta, ledger);
  for (const { name } of roles) {
    const agent = graph.node('agent', name);
    graph.edge('proposes', agent, meta);
    graph.edge('slice', meta, agent);
  }
  for (const { counselor } of invariants) {
    if (counselor === '') continue;
    const queue = graph.node('queue', 'counselor queue');
    const channel = graph.node('channel', counselor);
    graph.edge('escalates', meta, queue);
    graph.edge('asks', queue, channel);
    graph.edge('decides', channel, meta);
  }
  return graph.graph();
}

/**
 * The wiring of the derived architecture: roles with their processes, the components that these
 * read and write, and rules with the components that they refer to, the processes that wait for
 * them, and the channels that they escalate to.
 */
export function wiringGraph({ ontology, roles, invariants }: DerivedArchitecture): Graph {
  const graph = new GraphBuilder();
  const performed = ontology.processes.filter(({ process }) =>
    roles.some((role) => role.processes.includes(process)),
  );
  for (const { name } of roles) graph.node('role', name);
  for (const { process } of performed) graph.node('process', process);
  for (const { term } of ontology.components) graph.node('component', term);
  const node = (kind: string, name: string) => ({ kind, name });
  for (const { name, processes } of roles)
    for (const process of processes)
      graph.edge('performs', node('role', name), node('process', process));
  for (const { process, reads, writes } of performed) {
    for (const term of reads)
      graph.edge('reads', node('process', process), node('component', term));
    for (const term of writes)
      graph.edge('writes', node('process', process), node('component', term));
  }
  for (const { id, footprint, gates, counselor } of invariants) {
    const rule = graph.node('rule', id);
    for (const term of footprint) graph.edge('refers to', rule, node('component', term));
    for (const process of gates) graph.edge('gates', rule, node('process', process));
    if (counselor !== '') graph.edge('escalates to', rule, graph.node('channel', counselor));
  }
  return graph.graph();
}
