import { isDeepStrictEqual } from 'node:util';
import { ToolMessage, type ToolMessageFields } from '@langchain/core/messages';
import { Command, isCommand, MemorySaver, Send } from '@langchain/langgraph';
import type { Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';

/** The result of a tool call, as a graph takes it. */
export type ToolResult = ToolMessage | Command;

/** A result that the ledger cannot keep. A repetition of the call says so. */
const UNKEPT = 'unkept';

/** The form in which checkpoints keep values: messages, maps, sets and bytes return equal. */
const { serde } = new MemorySaver();

/**
 * A result as JSON for the ledger. One that would return as another value is not kept: functions,
 * dates, and objects of other classes.
 */
export async function toRecord(result: ToolResult): Promise<Json> {
  const plain = isCommand(result) ? { command: ofCommand(result) } : { message: ofMessage(result) };
  try {
    const [, bytes] = await serde.dumpsTyped(plain);
    const text = new TextDecoder().decode(bytes);
    if (!isDeepStrictEqual(await serde.loadsTyped('json', text), plain)) return { [UNKEPT]: true };
    const record = JSON.parse(text) as Json;
    // Refuses what a ledger cannot hold, before the outcome is reported.
    canonicalize(record, { bytesMax: BYTES_MAX });
    return record;
  } catch {
    return { [UNKEPT]: true };
  }
}

/** Above the size of every result that the ledger keeps. */
const BYTES_MAX = 64 * 1_048_576;

/** A recorded result. Undefined if the ledger could not keep it. */
export async function fromRecord(record: Json): Promise<ToolResult | undefined> {
  const { command, message } = (await serde.loadsTyped(
    'json',
    JSON.stringify(record),
  )) as Partial<Plain>;
  if (message !== undefined) return new ToolMessage(message);
  return command && commandOf(command);
}

interface Plain {
  readonly command: PlainCommand;
  readonly message: ToolMessageFields;
}

/** A destination of a command: a node, or a node with an input of its own. */
type PlainGoto = string | { readonly node: string; readonly args: unknown };

interface PlainCommand {
  readonly graph?: string;
  readonly update?: unknown;
  readonly resume?: unknown;
  readonly goto?: PlainGoto | readonly PlainGoto[];
}

function ofMessage(result: ToolMessage): ToolMessageFields {
  const { content, tool_call_id, name, status, artifact, metadata, id } = result;
  const { additional_kwargs, response_metadata } = result;
  return present({
    content,
    tool_call_id,
    name,
    status,
    artifact,
    metadata,
    id,
    additional_kwargs,
    response_metadata,
  }) as ToolMessageFields;
}

function ofCommand({ graph, update, resume, goto }: Command): PlainCommand {
  const places = Array.isArray(goto)
    ? goto.map(ofGoto)
    : goto === undefined
      ? undefined
      : ofGoto(goto);
  return present({ graph, update, resume, goto: places }) as PlainCommand;
}

function ofGoto(goto: unknown): PlainGoto {
  if (typeof goto === 'string') return goto;
  const { node, args } = goto as Send;
  return { node, args };
}

function commandOf({ goto, ...more }: PlainCommand): Command {
  const places = Array.isArray(goto)
    ? goto.map(gotoOf)
    : goto === undefined
      ? undefined
      : gotoOf(goto as PlainGoto);
  return new Command(
    present({ ...more, goto: places }) as ConstructorParameters<typeof Command>[0],
  );
}

function gotoOf(goto: PlainGoto): string | Send {
  return typeof goto === 'string' ? goto : new Send(goto.node, goto.args);
}

/** The members that are not undefined. */
function present<T extends object>(members: T): T {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as T;
}
