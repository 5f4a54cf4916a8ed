import { Findings } from '../bundle/findings.ts';
import { policiesOf } from '../bundle/records.ts';
import { checkGiven, type GivenKeys, type Report } from '../bundle/verify.ts';
import { checksPart } from './checks-part.ts';
import { element } from './element.ts';
import { entriesParts } from './entries-part.ts';
import { headline } from './headline.ts';
import { comparedWith, keyPart } from './key-part.ts';
import { limitsPart } from './limits-part.ts';
import { rulesPart, scopePart } from './scope-part.ts';
import { faultList, verdict } from './verdict.ts';

/** The result of a verification: what a valid one says, the verdict, the faults, the content. */
export function result({ findings, content }: Report): HTMLElement {
  const top = element('div', { class: 'top' });
  const showVerdict = (given: GivenKeys) => {
    const compared = new Findings();
    if (content !== undefined) checkGiven(given, content.keys, content.checkpoint, compared);
    const faults = [...compared.faults, ...findings.faults];
    const standing = content === undefined ? 'not compared' : comparedWith(given, content.keys.log);
    const says = content === undefined || faults.length > 0 ? undefined : headline(content);
    const parts = [says, verdict(faults, standing), faultList(faults, content?.part)];
    top.replaceChildren(...parts.filter((one) => one !== undefined));
  };
  showVerdict({});
  if (content === undefined) return element('div', {}, top, checksPart(findings));
  return element(
    'div',
    {},
    top,
    element('div', { class: 'columns' }, keyPart(content, showVerdict), scopePart(content)),
    ...entriesParts({
      ...content,
      faulty: new Set(findings.faults.flatMap(({ entry }) => entry ?? [])),
    }),
    element(
      'div',
      { class: 'columns' },
      checksPart(findings),
      rulesPart(content, policiesOf(content.part)),
    ),
    limitsPart(),
  );
}
