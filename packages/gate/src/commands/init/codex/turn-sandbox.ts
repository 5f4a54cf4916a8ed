import { globSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'smol-toml';
import { z } from 'zod';

/** The permission profile of Assize in a configuration of Codex (version 0.171.0). */
export const PROFILE = 'assize';

/** How deep Codex looks for what a pattern hides. */
const DEPTH = 'glob_scan_max_depth';

const questionForm = z.object({ turn_id: z.string(), transcript_path: z.string() });

const configForm = z.object({
  permissions: z.object({
    [PROFILE]: z.object({
      filesystem: z.record(z.string(), z.unknown()),
      network: z.object({ enabled: z.boolean() }),
    }),
  }),
});

const entryForm = z.object({
  path: z.union([
    z.object({ path: z.string() }).transform(({ path }) => path),
    z.object({ pattern: z.string() }).transform(({ pattern }) => pattern),
    z.object({ value: z.object({ kind: z.string() }) }).transform(({ value }) => `:${value.kind}`),
  ]),
  access: z.string(),
});

const placesForm = z.object({ entries: z.array(entryForm), [DEPTH]: z.number().optional() });

/** A turn in the transcript. The places are absent if it runs outside of a sandbox. */
const turnForm = z.object({
  type: z.literal('turn_context'),
  payload: z.object({
    turn_id: z.string(),
    permission_profile: z
      .object({ file_system: placesForm, network: z.string() })
      .optional()
      .catch(undefined),
  }),
});

/**
 * Why a turn does not run its commands in the sandbox of a configuration. Codex writes the profile
 * of each turn into its transcript, whatever flag, file or client chose it, and before it asks a
 * hook. No command in the sandbox can write there.
 */
export function turnFaults(question: unknown, file: string): string[] {
  const { data: asked } = questionForm.safeParse(question);
  if (asked === undefined) return ['Codex keeps no transcript of this session; leave --ephemeral'];
  const [opening] = openingRules(dirname(file));
  if (opening !== undefined) return [opening];
  const { data } = configForm.safeParse(parse(readFileSync(file, 'utf8')));
  const found = turnOf(readFileSync(asked.transcript_path, 'utf8'), asked.turn_id);
  if (data !== undefined && isDeepStrictEqual(found, saidOf(data))) return [];
  return [`this session does not run in the sandbox of ${file}; start it again without --sandbox`];
}

/** The places and the network of a profile. */
interface Said {
  readonly places: Readonly<Record<string, unknown>>;
  readonly network: string;
}

function saidOf({ permissions }: z.infer<typeof configForm>): Said {
  const { filesystem: places, network } = permissions[PROFILE];
  return { places, network: network.enabled ? 'enabled' : 'restricted' };
}

/** The last profile of a turn. Undefined without a sandbox. */
function turnOf(transcript: string, turn: string): Said | undefined {
  const turns = transcript
    .split('\n')
    .filter((line) => line.includes('"type":"turn_context"') && line.includes(turn))
    .flatMap((line) => turnForm.safeParse(JSON.parse(line)).data ?? []);
  const profile = turns.findLast(({ payload }) => payload.turn_id === turn)?.payload
    .permission_profile;
  if (profile === undefined) return undefined;
  const { file_system, network } = profile;
  const { entries, ...depth } = file_system;
  return {
    places: { ...Object.fromEntries(entries.map(({ path, access }) => [path, access])), ...depth },
    network,
  };
}

/** The folder of the person's own configuration. */
export function codexHome(): string {
  return process.env['CODEX_HOME'] ?? join(homedir(), '.codex');
}

/**
 * Rules of Codex that allow a command, for a folder `.codex` of a project, as faults. Codex runs
 * such a command where it can write everywhere, and tells no hook. A rule allows unless it says
 * something else.
 */
export function openingRules(folder: string): string[] {
  return [folder, codexHome(), '/etc/codex']
    .map((each) => join(each, 'rules'))
    .flatMap((cwd) => globSync(['*.rules', '.*.rules'], { cwd }).map((name) => join(cwd, name)))
    .filter((path) => isOpening(readFileSync(path, 'utf8')))
    .map((path) => `${path} lets commands out of the sandbox; take out its rules that allow`);
}

function isOpening(rules: string): boolean {
  const text = rules.replace(/^\s*#.*$/gm, '');
  const closing = text.match(/decision\s*=\s*["'](?:prompt|forbidden)["']/g) ?? [];
  return (text.match(/(?:prefix|network)_rule/g) ?? []).length > closing.length;
}
