import type { ComponentChildren, VNode } from 'preact'
import { useSpeech } from '#web/words/index'

interface TableProps {
  caption?: string
  columns: readonly string[]
  /** The columns of figures, which are aligned to the right; by default all but the first. */
  figures?: readonly number[]
  rows: { key: string; class?: string; name?: ComponentChildren; cells: ComponentChildren[] }[]
}

/** A table. Each row begins with its name, or else with its key. Zeros are pale. */
export function Table({ caption, columns, figures, rows }: TableProps): VNode {
  const { number } = useSpeech()
  const classOf = (column: number) => ((figures?.includes(column) ?? column > 0) ? 'figure' : '')
  return (
    <table>
      {caption !== undefined && <caption class="unseen">{caption}</caption>}
      <thead>
        <tr>
          {columns.map((title, at) => (
            <th key={`${at} ${title}`} scope="col" class={classOf(at)}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, class: of = '', name = key, cells }) => (
          <tr key={key} class={of}>
            <th scope="row">{name}</th>
            {cells.map((cell, at) => (
              <td
                key={`${at} ${key}`}
                data-label={columns[at + 1]}
                class={`${classOf(at + 1)}${cell === 0 ? ' zero' : ''}`}
              >
                {typeof cell === 'number' ? number(cell) : cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/**
 * The figures of a drawing as a table, on demand.
 *
 * @param props.hasButtons whether the rows have buttons, which keys can reach; otherwise keys
 * scroll the table
 */
export function Figures({
  hasButtons = false,
  ...table
}: TableProps & { hasButtons?: boolean }): VNode {
  const { words } = useSpeech()
  return (
    <details class="figures">
      <summary>{words.insights.asTable}</summary>
      <div class="scroll" {...(hasButtons ? {} : { tabIndex: 0 })}>
        <Table {...table} />
      </div>
    </details>
  )
}
