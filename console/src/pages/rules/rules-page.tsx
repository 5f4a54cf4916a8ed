import { Title } from '@mantine/core';
import { HaltedChip } from '../../parts/halted.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Section } from '../../parts/section.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import classes from '../incidents/incidents-page.module.css';
import { observingText } from './observing-text.ts';
import { RulesReport } from './rules-part.tsx';
import { useRulesInForce } from './rules-query.ts';

/** The rules in front of agents, by world: what holds, what is only tried, and what they did. */
export default function RulesPage() {
  const found = useRulesInForce();
  if (found.isPending) return <Loading what="the rules" />;
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  if (found.data.length === 0)
    return (
      <Empty isPage title="No world has a rules file">
        The calls of an agent program are judged by one, in a world of the domain gateway.
      </Empty>
    );
  return (
    <div className={classes.page}>
      <Title order={1} size="h4" mb="md">
        Rules
      </Title>
      {found.data.map((world) => (
        <Section
          key={world.trajectory_id}
          title={world.trajectory_id}
          about={
            <Inert>{`${world.id}: ${observingText(world) ?? 'every rule holds'}. The last seven days:`}</Inert>
          }
          actions={<HaltedChip world={world.trajectory_id} />}
        >
          <RulesReport trajectory={world.trajectory_id} />
        </Section>
      ))}
    </div>
  );
}
