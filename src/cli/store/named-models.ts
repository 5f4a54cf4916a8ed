import type { ChatModel } from '#models';
import { CliError } from '../errors.ts';
import { chatModelOf } from './chat-model.ts';

/**
 * The models of the option `--model`, each with its name among them. Two servers of one model name
 * are two models: the host tells them apart, also in recorded questions, so that neither has the
 * answers of the other.
 *
 * @throws CliError `usage`; ModelError `bad_model_option`
 */
export function namedModels(
  texts: readonly string[],
  textTools: boolean,
): readonly (readonly [name: string, model: ChatModel])[] {
  const models = texts.map((text) => ({ text, name: nameIn(text), model: chatModelOf(text, textTools) }));
  const named = models.map(({ text, name, model }): readonly [string, ChatModel] => {
    if (models.filter((other) => other.name === name).length === 1) return [name, model];
    const own = `${name}@${placeIn(text)}`;
    return [own, Object.freeze({ ...model, id: own })];
  });
  const names = named.map(([name]) => name);
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  if (twice !== undefined) throw new CliError('usage', `The model ${twice} is given twice. Pass --model once for it.`);
  return named;
}

function nameIn(text: string): string {
  return text.replace(/@https?:\/\/.*$/, '');
}

/** The server, without a user and a password. The provider's own one has no address. */
function placeIn(text: string): string {
  const address = text.slice(nameIn(text).length + 1);
  if (address === '') return 'provider';
  const { host, pathname } = new URL(address);
  return `${host}${pathname.replace(/\/(v1\/?)?$/, '')}`;
}
