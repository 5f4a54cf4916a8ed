import type { ChatRequest, ChatTool } from './chat-model.ts';

/** The system text with the tools in it, for models that support no tools. */
export function systemWithTools({ system, tools }: Pick<ChatRequest, 'system' | 'tools'>): string {
  if (tools.length === 0) return system;
  return [
    system,
    'Answer with one JSON object, {"action": NAME, "args": ARGUMENTS}, and with nothing else. The actions, each with the JSON Schema of its arguments:',
    ...tools.map(toolLine),
  ].join('\n\n');
}

function toolLine({ name, description, input }: ChatTool): string {
  return `${name}: ${description}\n${JSON.stringify(input)}`;
}
