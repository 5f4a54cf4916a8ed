import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server';

interface Asked {
  readonly prompt: Prompt;
  /** The words of the user. `{name}` is an argument. */
  readonly text: string;
}

const argument = (name: string, description: string) => ({ name, description, required: true });

const ASKED: readonly Asked[] = [
  {
    prompt: {
      name: 'what-waits',
      title: 'What waits for me?',
      description: 'The inbox, in short.',
    },
    text: 'What waits for a decision in the inbox? Use approvals_list. For each item say who asks, what exactly would happen, which rule asks, and until when. Decide nothing.',
  },
  {
    prompt: {
      name: 'why-refused',
      title: 'Why was this refused?',
      description: 'Explains an entry of the ledger.',
      arguments: [argument('entry', 'id of the entry, or TRAJECTORY@SEQ')],
    },
    text: 'Why did the entry {entry} get its ruling? Use entries_get, and domains_get for the text of the rules. Say which rule decided, which values it saw, and what would have been allowed.',
  },
  {
    prompt: {
      name: 'believed-on',
      title: 'What did we believe on a day?',
      description: 'The memory as it was.',
      arguments: [
        argument('trajectory', 'the trajectory'),
        argument('space', 'the space of its memory'),
        argument('day', 'for example 2026-05-03'),
      ],
    },
    text: 'What did we believe on {day}, in the memory {space} of the trajectory {trajectory}? Use memory_recall with `system` at the end of that day. Then say what is believed differently now, and which entries changed it.',
  },
];

export const PROMPTS: readonly Prompt[] = ASKED.map(({ prompt }) => prompt);

/** A prompt with its arguments, or what is wrong with them. */
export function promptOf(
  name: string,
  args: Readonly<Record<string, string>>,
): GetPromptResult | string {
  const asked = ASKED.find(({ prompt }) => prompt.name === name);
  if (asked === undefined) return `There is no prompt ${JSON.stringify(name)}.`;
  const missing = asked.prompt.arguments?.find((one) => (args[one.name] ?? '') === '');
  if (missing !== undefined) return `The prompt ${name} needs the argument ${missing.name}.`;
  const text = asked.text.replaceAll(/\{(\w+)\}/g, (_, part: string) => args[part] ?? '');
  return { messages: [{ role: 'user', content: { type: 'text', text } }] };
}
