import { runService } from '../../shared/process/service.ts'
import { startNormaliser } from './start.ts'

await runService('normaliser', startNormaliser)
