/** Whether an anomaly is admitted (A) or excluded (X). `-`: the anomaly is not applicable. */
export type Verdict = 'A' | 'X' | '-';

/** The findings about a memory from running it. */
export interface PeerFinding {
  readonly n1: Verdict;
  readonly n2: Verdict;
  readonly n3: Verdict;
  /** The observations, one sentence each. */
  readonly seen: readonly string[];
}

/** Another memory that is run, in the version that it is pinned to. */
export interface Peer {
  readonly name: 'mem0ai-v2' | 'mem0ai-v3' | 'server-memory';
  /** Its package name, also its path below `node_modules`. */
  readonly package: string;
  readonly path: string;
  readonly version: string;
  /** The paper's report on the memory: claim and wire, for N1, N2 and N3. */
  readonly paper?: readonly [n1: string, n2: string, n3: string];
}

/** As `peers/package.json` pins them. */
export const PEERS: readonly Peer[] = [
  {
    name: 'mem0ai-v2',
    package: 'mem0ai',
    path: 'mem0ai-v2',
    version: '2.4.6',
    paper: ['- -', '- -', 'A A'],
  },
  {
    name: 'mem0ai-v3',
    package: 'mem0ai',
    path: 'mem0ai-v3',
    version: '3.3.1',
    paper: ['A -', 'A X', 'A A'],
  },
  {
    name: 'server-memory',
    package: '@modelcontextprotocol/server-memory',
    path: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
  },
];

/** The start argument of a peer's process, and its answer. */
export interface PeerTask {
  readonly peer: Peer['name'];
  /** Where the peers are installed. */
  readonly folder: string;
  /** Where it may write. */
  readonly scratch: string;
}

export type PeerAnswer = { readonly found: PeerFinding } | { readonly failed: string };
