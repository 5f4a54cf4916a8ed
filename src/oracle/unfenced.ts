import { form, requireForm } from '#base';

/**
 * What a model wrote, without the fence that models like to put around code, and without the words around that. The first fence counts.
 *
 * @throws ArgumentError `bad_argument`
 */
export function unfenced(answer: string): string {
  requireForm(form.text, answer, 'answer');
  const fenced = /^```[a-z]*\n([\s\S]*?)^```/m.exec(answer)?.[1];
  return (fenced ?? answer).trim();
}
