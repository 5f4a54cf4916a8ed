import { CliError } from '@assize/command';
import { anthropic, type ChatModel, openAiCompatible } from '#models';

const OPENAI = 'https://api.openai.com/v1';
const ANTHROPIC = 'https://api.anthropic.com';

/**
 * The model that `--model` names: `openai:NAME`, `anthropic:NAME`, each with an own server as
 * `@URL`. Keys come from the environment alone, because other users of a machine can read a command
 * line. The key of a provider is sent to that provider only; `ASSIZE_MODEL_KEY` is sent to any.
 *
 * @throws CliError `usage`; ModelError `bad_argument`
 */
export function chatModelOf(text: string, textTools: boolean): ChatModel {
  const { kind, model, url } = partsOf(text);
  const own = process.env['ASSIZE_MODEL_KEY'];
  if (kind === 'anthropic') {
    const apiKey = own ?? (url === undefined ? process.env['ANTHROPIC_API_KEY'] : undefined);
    if (apiKey === undefined)
      throw noKey(`${kind}:${model}`, url === undefined ? 'ANTHROPIC_API_KEY' : 'ASSIZE_MODEL_KEY');
    if (textTools)
      throw new CliError('usage', 'The option --text-tools is for openai models. Leave it out.');
    return anthropic({ model, apiKey, baseUrl: url ?? ANTHROPIC });
  }
  const apiKey = own ?? (url === undefined ? process.env['OPENAI_API_KEY'] : undefined);
  if (apiKey === undefined && url === undefined) throw noKey(`${kind}:${model}`, 'OPENAI_API_KEY');
  return openAiCompatible({
    model,
    baseUrl: url ?? OPENAI,
    tools: textTools ? 'text' : 'native',
    ...(apiKey !== undefined && { apiKey }),
  });
}

/**
 * The id of the model that `--model` names, for its recorded answers. Needs no key.
 *
 * @throws CliError `usage`
 */
export function modelIdOf(text: string): string {
  const { kind, model } = partsOf(text);
  return `${kind}:${model}`;
}

function partsOf(text: string): {
  kind: 'openai' | 'anthropic';
  model: string;
  url: string | undefined;
} {
  const found = /^(openai|anthropic):(.+?)(?:@(https?:\/\/.+))?$/.exec(text);
  if (found === null)
    throw new CliError(
      'usage',
      `The model ${text.split('@')[0]} is not valid. Pass openai:NAME, openai:NAME@URL or anthropic:NAME.`,
    );
  const [, kind, model, url] = found;
  return { kind: kind as 'openai' | 'anthropic', model: model as string, url };
}

function noKey(model: string, variable: string): CliError {
  return new CliError(
    'usage',
    `The model ${model} needs a key. Set the environment variable ${variable}.`,
  );
}
