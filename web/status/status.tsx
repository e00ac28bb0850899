import { useEffect } from 'preact/hooks'
import { Bar, Footer } from '../parts/header.tsx'
import { problemOfFailure, problemsOf } from './figures/problems.ts'
import { useFigures, type Watch } from './figures/use-figures.ts'
import { Flow } from './flow/flow.tsx'
import { LastDay } from './lag/last-day.tsx'
import { MachineSection } from './machines/machines.tsx'
import { Outlets } from './outlets/outlets.tsx'
import { Verdict } from './verdict.tsx'
import { Quarantine } from './work/quarantine.tsx'
import { QueueTable } from './work/queues.tsx'

/** The page for operators: how the fleet is doing, at a glance. */
export function Status() {
  const watch = useFigures()
  const { figures, failure } = watch
  const service = figures?.service ?? 'Perscope'
  useEffect(() => {
    document.title = `${service} status`
  }, [service])
  return (
    <>
      <Bar>
        <a href="/status/figures">Figures as JSON</a>
      </Bar>
      <main class={failure === null ? 'status' : 'status stale'}>
        <Verdict service={service} problems={problemsNow(watch)} readAt={watch.readAt} />
        {figures && (
          <>
            <section aria-labelledby="flow-title">
              <h2 id="flow-title">The way of an article</h2>
              <Flow figures={figures} />
            </section>
            <section aria-labelledby="lag-title">
              <h2 id="lag-title">The last 24 hours</h2>
              <LastDay hours={figures.lag} />
            </section>
            <div class="pair">
              <section aria-labelledby="queues-title">
                <h2 id="queues-title">Queues</h2>
                <QueueTable queues={figures.queues} />
              </section>
              <section aria-labelledby="quarantine-title">
                <h2 id="quarantine-title">Quarantine</h2>
                <Quarantine quarantine={figures.quarantine} at={figures.at} />
              </section>
            </div>
            <section aria-labelledby="machines-title">
              <h2 id="machines-title">Machines</h2>
              <MachineSection machines={figures.machines} />
            </section>
            <section aria-labelledby="outlets-title">
              <h2 id="outlets-title">Outlets</h2>
              <Outlets outlets={figures.outlets} at={figures.at} />
            </section>
          </>
        )}
      </main>
      <Footer />
    </>
  )
}

/** null: nothing is known yet. */
function problemsNow({ figures, failure }: Watch) {
  if (failure !== null) return [problemOfFailure(failure)]
  return figures === null ? null : problemsOf(figures)
}
