import type { CallToolResult } from '@modelcontextprotocol/server';
import { errorAnswer } from '../answers.ts';
import type { KeptResults } from '../results.ts';
import { visibleDeep } from '../upstream/definitions.ts';

/** The longest text of one answer, in bytes. */
const PART_BYTES = 48 * 1024;

/** The tool that reads the rest of a long answer. */
export const PART_TOOL = 'answer_part';

/** Long answers of one principal, cut into their parts. */
export type KeptAnswers = KeptResults<readonly string[]>;

type Document = Readonly<Record<string, unknown>>;

/**
 * A document of the API as the result of a tool, with notes after it. Characters that people cannot
 * see are written out. A long one is kept, and read part by part.
 */
export function shownAnswer(
  document: Document,
  notes: readonly string[],
  kept: KeptAnswers,
): CallToolResult {
  const shown = visibleDeep(document) as Record<string, unknown>;
  const text = JSON.stringify(shown);
  const content = notes.map((note) => ({ type: 'text' as const, text: note }));
  if (Buffer.byteLength(text) <= PART_BYTES)
    return { content: [{ type: 'text', text }, ...content], structuredContent: shown };
  const parts = partsOf(text);
  const first = partOf(parts, { answer: kept.keep(parts, text.length), part: 1 });
  return { ...first, content: [...first.content, ...content] };
}

/** A later part of a kept answer. */
export function answerPart(
  args: Readonly<Record<string, unknown>>,
  kept: KeptAnswers,
): CallToolResult {
  const { answer, part } = args;
  const parts = typeof answer === 'string' ? kept.read(answer) : undefined;
  if (parts === undefined)
    return errorAnswer('This answer is no longer stored. Call the tool that gave it again.');
  return partOf(parts, { answer: answer as string, part });
}

function partOf(
  parts: readonly string[],
  { answer, part }: { readonly answer: string; readonly part: unknown },
): CallToolResult {
  const found = typeof part === 'number' ? parts[part - 1] : undefined;
  if (found === undefined)
    return errorAnswer(`\`part\` must be a number from 1 to ${parts.length}.`);
  const at = part as number;
  const rest =
    at < parts.length
      ? `Call ${PART_TOOL} with ${JSON.stringify({ answer, part: at + 1 })} for the next part, or ask for less.`
      : 'This is the last part.';
  return {
    content: [
      { type: 'text', text: found },
      { type: 'text', text: `This is part ${at} of ${parts.length} of one JSON document. ${rest}` },
    ],
    structuredContent: { answer, part: at, parts: parts.length, text: found },
  };
}

/** The pieces of a text, cut between characters. */
function partsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const parts: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(from + PART_BYTES, bytes.length);
    while (to < bytes.length && ((bytes[to] as number) & 0xc0) === 0x80) to--;
    parts.push(bytes.toString('utf8', from, to));
    from = to;
  }
  return parts;
}
