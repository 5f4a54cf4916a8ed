import type { Json } from 'assize/internal/base';
import { type GatewayState, isBuiltInPattern, isBuiltInTool, placesFor, specOf } from '#gateway';
import { reachesOf } from '#reach';
import type { CallContent } from './asked-call.ts';

/**
 * The call with the places that it, or each of its parts, may reach on this machine beside the
 * paths that it names. They are a part of its content: what it reaches is judged and approved. In a
 * sandbox that is what git has of hidden files, and other names of them.
 */
export async function withReaches<T extends CallContent>(
  world: { readonly agent: string; read<U>(read: (state: Ruled) => U): U },
  call: T,
): Promise<T> {
  const { parts, project } = call;
  const looked = async <U extends Used>(used: U): Promise<U> => {
    const tool = `${used.server}/${used.tool}`;
    const isPart = isBuiltInTool(tool);
    const isSandboxed = isPart && used.args['sandboxed'] === true;
    const { spec, places } = world.read((state) => ({
      spec: specOf(state, tool),
      places: placesFor(state, { agent: world.agent, tool, isSandboxed }, project),
    }));
    const folder = isBuiltInPattern(tool) ? undefined : (project ?? process.cwd());
    const reaches = await reachesOf({ spec, args: used.args, isPart, folder }, places);
    return reaches.length === 0 ? used : { ...used, reaches };
  };
  return parts === undefined
    ? looked(call)
    : { ...call, parts: await Promise.all(parts.map((part) => looked(part))) };
}

/** A state with rules. */
type Ruled = Pick<GatewayState, 'rules'>;

interface Used {
  readonly server: string;
  readonly tool: string;
  readonly args: { readonly [name: string]: Json };
}
