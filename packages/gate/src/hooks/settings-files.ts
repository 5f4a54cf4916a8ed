import type { CallPart } from '#calls';

/**
 * Files that say what an agent may do, or what a program runs: its own settings, those of git, and
 * the folder of the server that rules it.
 */
const FILES =
  /(?:^|\/)(?:\.assize(?:\/.*)?|\.git(?:\/(?:config|hooks(?:\/.*)?|info(?:\/.*)?))?|\.claude(?:\/(?:settings[^/]*\.json|hooks(?:\/.*)?|agents(?:\/.*)?))?|\.claude\.json|\.mcp\.json|\.codex(?:\/(?:[^/]*\.toml|hooks(?:\.json|\/.*)?|rules(?:\/.*)?|auth\.json))?|node_modules\/assize(?:\/.*)?|managed-settings\.json|assize\.config\.[a-z]+|assize\.yaml|[^/]+\.root\.key|[^/]*\.token|[^/]*\.db)$/i;

/** Parts of calls that may read or change such files. They ask unless the rules say otherwise. */
export function settingsParts(parts: readonly CallPart[], server: string): readonly CallPart[] {
  const paths = new Set(parts.flatMap(pathsOf).filter((path) => FILES.test(path)));
  return [...paths].map((path) => ({ server, tool: 'settings', args: { path } }));
}

function pathsOf({ args }: CallPart): readonly string[] {
  const { path, paths } = args;
  return [path, paths].flat().filter((each): each is string => typeof each === 'string');
}
