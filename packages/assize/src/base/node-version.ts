import { AssizeError } from './errors.ts';

export type NodeErrorCode =
  /**
   * The running Node is older than the package needs. Install a release that the message names.
   * Evidence `{node}`.
   */
  'unsupported_node';

/**
 * A Node that is too old. The package throws it while it is imported, so nothing has been opened or
 * written.
 */
export class NodeError extends AssizeError<NodeErrorCode> {
  override readonly name = 'NodeError';
}

/**
 * The oldest release of each line that the built package supports. Node 22.16 is the first with
 * FTS5 in its SQLite, and with `setReturnArrays`, `isTransaction` and `timeout` in `node:sqlite`.
 * Node 23 never had all of them. `engines` in package.json and packages/cli/bin/assize.js agree.
 */
const OLDEST: readonly (readonly [major: number, minor: number])[] = [
  [22, 16],
  [24, 0],
];

/** @throws NodeError `unsupported_node` */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const newest = OLDEST.at(-1)!;
  if (major > newest[0] || OLDEST.some((oldest) => major === oldest[0] && minor >= oldest[1]))
    return;
  throw new NodeError(
    'unsupported_node',
    `Assize can't run on Node ${version}. Install Node 24, or Node 22.16 or newer of the 22 line; npm install --save-dev node@24 brings Node 24 to one project, and npx node runs it.`,
    { evidence: { node: version } },
  );
}

requireNode(process.versions.node);
