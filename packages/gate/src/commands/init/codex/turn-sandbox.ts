import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'smol-toml';
import { z } from 'zod';

/** The permission profile of Assize in a configuration of Codex (version 0.171.0). */
export const PROFILE = 'assize';

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

/** A turn, as the transcript has it. Without a sandbox there is no list of places. */
const turnForm = z.object({
  payload: z.object({
    turn_id: z.string(),
    permission_profile: z
      .object({ file_system: z.object({ entries: z.array(entryForm) }), network: z.string() })
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
  const { filesystem, network } = permissions[PROFILE];
  const { glob_scan_max_depth: _, ...places } = filesystem;
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
  return {
    places: Object.fromEntries(file_system.entries.map(({ path, access }) => [path, access])),
    network,
  };
}
